import { type Route, ruleOf } from '@rollcall/contract'
import { type Api, bodyOf } from './api.ts'
import { fromElsewhere, routes, titleOf, unknownId } from './every-route.ts'

/** A field of a request message. */
export type Field = NonNullable<Route['rpc']['resolvedRequestType']>['fieldsArray'][number]
/** Meaningful values by field name, for fields whose rule is not enough. */
const meaningful: Record<string, unknown> = {
  role: 'user',
  permissions: { links: ['read'] },
  expiresAt: '2099-01-01T00:00:00.000Z',
  country: 'DE',
  timezone: 'Europe/Berlin',
  language: 'de',
  currency: 'EUR',
  slug: 'example',
  mapping: { Email: 'email', Name: 'name' },
  password: 'made for tests only',
  cidrs: ['192.0.2.0/24'],
  to: 'someone@example.com',
}

/** Returns the fields of a route's body; none if it has no body. */
export function bodyFieldsOf(route: Route): Field[] {
  return route.hasBody ? fieldsBesidesPath(route) : []
}

/** Returns the parameters of a route's query, except those that lists share. */
export function queryFieldsOf(route: Route): Field[] {
  return route.hasBody ? [] : fieldsBesidesPath(route).filter(field => !fieldsWithin(field))
}

function fieldsBesidesPath({ rpc, variables }: Route): Field[] {
  return rpc.resolvedRequestType!.fieldsArray.filter(({ name }) => !variables.includes(name))
}

/** Returns the fields of a field's message; undefined if it is a scalar. */
export function fieldsWithin(field: Field): Field[] | undefined {
  const type = field.resolve().resolvedType
  return ruleOf(field).json === undefined && type && 'fieldsArray' in type ? type.fieldsArray : undefined
}

/** Returns a valid body of a route: its required fields, or the first if one of several is required. */
export function exampleBody(route: Route): Record<string, unknown> {
  return exampleObject(bodyFieldsOf(route))
}

function exampleObject(fields: readonly Field[]): Record<string, unknown> {
  const needed = fields.filter(field => ruleOf(field).required)
  const given = needed.length > 0 ? needed : fields.slice(0, 1)
  return Object.fromEntries(given.map(field => [field.name, exampleOf(field)]))
}

/** Returns a valid value of a field. */
export function exampleOf(field: Field): unknown {
  const known = meaningful[field.name]
  if (known !== undefined) return field.repeated && !Array.isArray(known) ? [known] : known
  const within = fieldsWithin(field)
  const single = within ? exampleObject(within) : exampleValue(field)
  return field.repeated ? [single] : single
}

function exampleValue(field: Field): unknown {
  const { json, format, oneOf, minLen: least = 1, maxLen: most = 100 } = ruleOf(field)
  if (json === 'texts') return [format === 'object_id' ? unknownId : 'text']
  if (json !== undefined) return {}
  if (field.type === 'bool') return true
  if (field.type !== 'string') return 1
  if (oneOf) return oneOf.split(' ')[0]
  const examples: Record<string, string> = {
    object_id: unknownId,
    email: 'someone@example.com',
    date: '2026-01-01T00:00:00.000Z',
    url: 'https://example.com/image.png',
    cidr: '192.0.2.1',
  }
  if (format !== undefined) return examples[format]
  return 'Example'.padEnd(least, 'x').slice(0, most)
}

/** Meaningful bodies, for routes whose contract is not enough. */
const bodiesOf: Record<string, Record<string, unknown>> = {
  'POST /api/audience': { email: 'robin@example.com', name: 'Robin Example', tags: ['newsletter'] },
  'POST /api/audience/attributes': { name: 'Company', slug: 'company' },
  'POST /api/audience-lists': { name: 'Newsletter' },
  'POST /api/workspaces': { name: 'Marketing' },
  'POST /api/tokens': { name: 'Nightly export' },
  'POST /api/features': { name: 'Beta', slug: 'beta' },
  'POST /api/users': { name: 'Robin Example', password: meaningful.password },
  'POST /api/workspaces/:id/invitations': { email: 'guest@example.com', role: 'user' },
  'POST /api/webhooks': { name: 'Order desk', url: 'https://hooks.example.com/rollcall', active: false },
  'POST /api/links': { url: 'https://example.com/summer' },
  'POST /api/emails/domains': { domain: 'mail.example.com' },
  'POST /api/emails/senders': {
    name: 'Example',
    email: 'news@example.com',
    delivery: 'oauth',
    oauth: { provider: 'google' },
  },
}

/** Creates a record by every route that can. Returns the routes that failed, with their answers. */
export async function makeOneOfEach(api: Api): Promise<string[]> {
  const refusals: string[] = []
  const make = async (route: Route, path: string) => {
    const body = { ...exampleBody(route), ...bodiesOf[titleOf(route)] }
    const { status, text } = await fromElsewhere(api).request(route.verb, path, { body })
    if (status !== 201) refusals.push(`${titleOf(route)}: ${status} ${text}`)
  }
  const creating = routes.filter(({ status, via }) => status === 201 && via === 'json')
  for (const route of creating.filter(({ path }) => !path.includes(':'))) await make(route, route.path)
  const { organization } = await bodyOf(api.get<{ organization: { id: string } }>('/api/auth/me'))
  const account = { email: 'someone@example.com', password: meaningful.password, orgId: organization.id }
  await bodyOf(fromElsewhere(api).post('/api/auth/login', account))
  const role = { name: 'Example', kind: 'user', permissions: { links: ['read'] } }
  await bodyOf(api.post('/api/access-control/save-role', role))
  const file = 'Email,Name\nimported@example.com,Imported\n'
  const { importId } = await bodyOf(api.upload<{ importId: string }>('/api/audience/import/upload', file))
  await bodyOf(api.post('/api/audience/import/start', { importId, mapping: { Email: 'email', Name: 'name' } }))
  for (const route of creating.filter(({ path }) => path.includes(':'))) await make(route, await ownPath(api, route))
  return refusals
}

/**
 * Returns the path of a route with ids of the caller's own records; with the unknown id if there are none, and with an
 * allowed value for variables that have such.
 */
export async function ownPath(api: Api, { path, rpc }: Pick<Route, 'path' | 'rpc'>): Promise<string> {
  let own = ''
  for (const part of path.split('/').slice(1)) {
    const variable = part.startsWith(':') && rpc.resolvedRequestType!.fields[part.slice(1)]
    const values = variable && ruleOf(variable).oneOf
    if (!variable) own += `/${part}`
    else if (values) own += `/${values.split(' ')[0]}`
    else own += `/${(await idsAt(api, part === ':jobId' ? jobsAt(own) : own))[0] ?? unknownId}`
  }
  return own
}

/** Returns the path of the list of jobs. */
function jobsAt(own: string): string {
  return own.startsWith('/api/audience/bulk') ? '/api/audience/bulk/jobs' : '/api/audience/import/jobs'
}

/** Returns one id of every kind of record that the caller can list, by the path of its list. */
export async function idOfEachKind(api: Api): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const route of routes.filter(({ returns }) => returns.pageOf)) {
    const [id] = await idsAt(api, await ownPath(api, route))
    if (id) found.set(route.path, id)
  }
  return found
}

/** Returns the ids of a list, the latest record first; none if there is no such list. */
async function idsAt(api: Api, path: string): Promise<string[]> {
  const { status, body } = await fromElsewhere(api).get<{ docs?: { _id: string }[] }>(path)
  return status === 200 ? (body.docs ?? []).map(({ _id }) => _id) : []
}
