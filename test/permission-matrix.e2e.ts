import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { accessOf as guardOf, type Permissions, type Resource, type Route, resources } from '@rollcall/contract'
import { type Answer, type Api, bodyOf, makeToken, signIn } from './api.ts'
import { fromElsewhere, manyAddresses, pathOf, routes, titleOf } from './every-route.ts'
import { startStack, type TestStack } from './stack.ts'

/** The action of each method, and what the role `user` may not read: repeated here from the design. */
const actionOf = { GET: 'read', POST: 'create', PATCH: 'update', PUT: 'update', DELETE: 'delete' } as const
const closedToUsers = new Set([
  'tokens',
  'roles',
  'users',
  'email_provider',
  'email_suppressions',
  'settings',
  'webhooks',
  'events',
])
const userPermissions = Object.keys(resources)
  .filter(name => !closedToUsers.has(name))
  .map(name => `${name}.read`)

type Action = (typeof actionOf)[keyof typeof actionOf]
/** The access of a route in its proto: one or two permissions, any caller, or anyone. */
type Declared = { resource: Resource; action: Action; also?: string } | 'caller' | 'public'

const accessOf = ({ rpc }: Route) => {
  const options = (rpc.parsedOptions as Record<string, unknown>[]).find(option => '(rollcall.access)' in option)
  return options?.['(rollcall.access)'] as {
    resource?: Resource
    caller?: boolean
    public?: boolean
    scoped_as?: string
    session_only?: boolean
    also?: string
  }
}

const declared = new Map<Route, Declared>(routes.map(route => [route, declarationOf(route)]))
const permissionNames = [...new Set([...declared.values()].flatMap(permissionName))]
/** Routes that end the session, which later routes need. */
const inOrder = [...routes].sort((one, other) => Number(one.via === 'sign_out') - Number(other.via === 'sign_out'))

/** Whether a route changes what other principals are, unless the strict check refuses the request. */
function endsSessionsOfOthers({ verb, path }: Route): boolean {
  return verb === 'DELETE' && path === '/api/me/sessions'
}

function declarationOf(route: Route): Declared {
  const { resource, public: isPublic, also } = accessOf(route)
  if (resource) return { resource, action: actionOf[route.verb as keyof typeof actionOf], ...(also && { also }) }
  return isPublic ? 'public' : 'caller'
}

/** Returns the required permissions. */
function permissionName(declaration: Declared): string[] {
  if (typeof declaration === 'string') return []
  const { resource, action, also } = declaration
  return [`${resource}.${action}`, ...(also ? [also] : [])]
}

/**
 * A caller: its permissions, whether it is read-only, whether its permissions are a scope of the credential, whether
 * it is an API token, and the only resource to test, if any.
 */
type Principal = {
  name: string
  api: Api
  permissions: Permissions | undefined
  readOnly?: boolean
  isScoped?: boolean
  isToken?: boolean
  only?: string
}

const passes = 'passes'
const beyondAnyScope = 'A credential limited to a scope cannot do this.'
const beyondTokens = 'An API token cannot do this.'

/** Returns the expected outcome of a request by the declared access. */
function expectedOf(
  route: Route,
  { permissions, readOnly = false, isScoped = false, isToken = false }: Principal,
): string {
  const declaration = declared.get(route)!
  if (declaration === 'public') return passes
  if (permissions === undefined) return 'no credential'
  if (readOnly && route.verb !== 'GET') return 'read-only'
  if (accessOf(route).session_only && isToken) return beyondTokens
  if (declaration === 'caller' && isScoped) return expectedWithin(permissions, route)
  const missing = permissionName(declaration).find(name => permissions !== '*' && !permissions.includes(name))
  return missing ? `Permission denied: ${missing}` : passes
}

function expectedWithin(scope: Permissions, route: Route): string {
  const { scoped_as: required } = accessOf(route)
  if (required === 'any') return passes
  if (required === 'none') return beyondAnyScope
  const permission = `${required}.${actionOf[route.verb as keyof typeof actionOf]}`
  return scope.includes(permission) ? passes : `Permission denied: ${permission}`
}

/** Returns the outcome of a request by credentials and permissions, whatever the handler answers to an unknown id. */
function outcomeOf({ status, text, body }: Answer): string {
  const { error, success, message = '' } = body as { error?: boolean; success?: boolean; message?: string }
  if (status === 401) return text === 'Unauthorized' ? 'no credential' : text
  if (status === 403 && success === false && message === 'Impersonation is read-only.') return 'read-only'
  const isDenied = message.startsWith('Permission denied: ') || [beyondAnyScope, beyondTokens].includes(message)
  if (status === 403 && error === true && isDenied) return message
  return status >= 500 || status === 429 ? `${status} ${text}` : passes
}

describe('the permission matrix', () => {
  let stack: TestStack
  const principals: Principal[] = []
  let checks = 0
  let equal = 0

  const saveRole = (kind: 'api' | 'user', permission: string) => {
    const [resource, action] = permission.split('.') as [string, string]
    const role = { name: `${kind}: ${permission}`, kind, permissions: { [resource]: [action] } }
    return bodyOf(stack.owner.post<{ name: string }>('/api/access-control/save-role', role))
  }
  const addPerson = async (role: string) => {
    const account = { email: `${role.replace(/\W+/g, '-')}@example.com`, password: 'made for tests only' }
    const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/users', { name: role, role, ...account }), 201)
    return { id, api: await signIn(fromElsewhere(stack.api), account.email, account.password) }
  }
  const impersonate = async (userId: string) => {
    const answer = fromElsewhere(stack.owner).post<{ token: string }>('/api/auth/impersonate', { userId })
    return stack.api.as((await bodyOf(answer)).token)
  }

  /** The owner's session, exchanged for a scope. */
  const limitedTo = async (...permissions: string[]): Promise<Principal> => {
    const anyone = fromElsewhere(stack.api)
    type Client = { client_id: string; client_secret: string }
    const client = await bodyOf(anyone.post<Client>('/api/auth/clients', { client_name: 'Matrix' }), 201)
    const exchange = {
      client_id: client.client_id,
      client_secret: client.client_secret,
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: stack.owner.headers.authorization,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: permissions.join(' '),
    }
    const { access_token } = await bodyOf(anyone.post<{ access_token: string }>('/api/auth/token', exchange))
    return { name: `scope ${exchange.scope}`, api: stack.api.as(access_token), permissions, isScoped: true }
  }

  before(async () => {
    // All principals call concurrently; the limit of concurrent streams is not tested here.
    const manyStreams = { STREAMS_PER_ORGANIZATION: '100', MONGODB_STREAMS: '100', MONGODB_ALL_STREAMS: '100' }
    stack = await startStack({ settings: { ...manyAddresses, ...manyStreams } })
    const admin = await addPerson('admin')
    const user = await addPerson('user')
    const editor = await addPerson((await saveRole('user', 'audience.update')).name)
    principals.push(
      { name: 'anonymous', api: stack.api, permissions: undefined },
      { name: 'owner', api: stack.owner, permissions: '*' },
      { name: 'admin', api: admin.api, permissions: '*' },
      { name: 'user', api: user.api, permissions: userPermissions },
      { name: 'custom role with one action', api: editor.api, permissions: ['audience.update'] },
      { name: 'impersonated admin', api: await impersonate(admin.id), permissions: '*', readOnly: true },
      { name: 'impersonated user', api: await impersonate(user.id), permissions: userPermissions, readOnly: true },
      { name: 'token without role, of the owner', isToken: true, ...(await makeToken(stack.owner)), permissions: '*' },
      { name: 'token without role, of an admin', isToken: true, ...(await makeToken(admin.api)), permissions: '*' },
    )
    principals.push(
      await limitedTo('audience.read'),
      await limitedTo('email_senders.read', 'email_senders.update', 'workspaces.create', 'workspaces.delete'),
    )
    for (const role of ['owner', 'admin', 'user']) {
      const permissions = role === 'user' ? userPermissions : '*'
      principals.push({
        name: `token of role ${role}`,
        isToken: true,
        ...(await makeToken(stack.owner, { role })),
        permissions,
      })
    }
    for (const permission of permissionNames) {
      const { name: role } = await saveRole('api', permission)
      const token = await makeToken(stack.owner, { role })
      const [only = ''] = permission.split('.')
      principals.push({
        name: `token that may ${permission}`,
        isToken: true,
        ...token,
        permissions: [permission],
        only,
      })
    }
  })
  after(() => stack?.stop())

  const concernedBy = (route: Route): Principal[] => {
    const declaration = declared.get(route)!
    const resource = typeof declaration === 'string' ? undefined : declaration.resource
    return principals.filter(({ only }) => only === undefined || only === resource)
  }

  /** With an unknown id and no body, only credentials and permissions decide the outcome. */
  const differenceOf = async (route: Route, principal: Principal): Promise<string[]> => {
    const sent = endsSessionsOfOthers(route) ? { query: { nonsense: 1 } } : {}
    const answer = await fromElsewhere(principal.api).request(route.verb, pathOf(route), sent)
    const [expected, outcome] = [expectedOf(route, principal), outcomeOf(answer)]
    return outcome === expected ? [] : [`${titleOf(route)} as ${principal.name}: ${outcome}, not ${expected}`]
  }

  const differencesOn = async (route: Route): Promise<string[]> => {
    const concerned = concernedBy(route)
    if (route.via !== 'sign_out') {
      return (await Promise.all(concerned.map(principal => differenceOf(route, principal)))).flat()
    }
    const differences: string[] = []
    // Signing out ends the sessions made from that one, too. They were made later, so they go first.
    for (const principal of concerned.toReversed()) differences.push(...(await differenceOf(route, principal)))
    return differences
  }

  const check = async (route: Route): Promise<string[]> => {
    const differences = await differencesOn(route)
    checks += concernedBy(route).length
    equal += concernedBy(route).length - differences.length
    return differences
  }

  for (const route of inOrder.filter(({ via }) => via !== 'sign_out')) {
    it(`${titleOf(route)} takes ${permissionName(declared.get(route)!)[0] ?? `${declared.get(route)}`}`, async () => {
      assert.deepEqual(await check(route), [])
    })
  }

  /** Runs the matrix with other accesses instead of the declared ones, on routes of services in this process. */
  const differencesWith = async (naive: (route: Route) => Route['access']): Promise<string[]> => {
    const found: string[] = []
    for (const route of routes.filter(({ via }) => via !== 'sign_out')) {
      const original = route.access
      const changed = naive(route)
      if (changed === original) continue
      const guard = guardOf(route.rpc)!
      route.access = guard.access = changed
      try {
        found.push(...(await differencesOn(route)))
      } finally {
        route.access = guard.access = original
      }
    }
    return found
  }

  it('would catch a guard that ignores the method', async () => {
    const reading = ({ access }: Route): Route['access'] =>
      access.kind === 'permission' && access.resource === 'tokens' ? { ...access, action: 'read' } : access
    const found = await differencesWith(reading)
    assert.ok(
      found.includes('POST /api/tokens as token that may tokens.read: passes, not Permission denied: tokens.create'),
    )
    assert.ok(found.every(line => !line.startsWith('GET ')))
  })

  it('would catch a route whose access was changed', async () => {
    const changed = (title: string, to: Route['access']) => (route: Route) =>
      titleOf(route) === title ? to : route.access
    const toCaller = await differencesWith(changed('GET /api/users', { kind: 'caller', scope: 'any' }))
    assert.ok(toCaller.includes('GET /api/users as user: passes, not Permission denied: users.read'))
    const toPublic = await differencesWith(changed('GET /api/users', { kind: 'public' }))
    const unscoped = await differencesWith(changed('GET /api/emails/senders', { kind: 'caller', scope: 'any' }))
    assert.ok(unscoped.some(line => line.startsWith('GET /api/emails/senders as scope audience.read: passes, not ')))
    assert.ok(toPublic.some(line => line.startsWith('GET /api/users as anonymous: ')))
  })

  for (const route of inOrder.filter(({ via }) => via === 'sign_out')) {
    it(`${titleOf(route)} takes any caller`, async () => {
      assert.deepEqual(await check(route), [])
    })
  }

  it('is as declared, all of it', t => {
    assert.equal(checks, routes.flatMap(concernedBy).length)
    t.diagnostic(`S4 ${checks} checks, ${equal} equal`)
    assert.equal(equal, checks)
  })
})
