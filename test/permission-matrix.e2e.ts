import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { actionOf, actions, allows, type Permissions, type Route, resources } from '@rollcall/contract'
import { contractRoutes } from '@rollcall/rpc'
import { type Api, bodyOf, makeToken } from './api.ts'
import { startStack, type TestStack } from './stack.ts'

/** What the built-in role `user` may do: read all but what governs others. Stated here again, as the design has it. */
const closedToUsers = new Set(['tokens', 'roles', 'users', 'email_provider', 'settings'])
const userPermissions = Object.keys(resources)
  .filter(name => !closedToUsers.has(name))
  .map(name => `${name}.read`)

const guarded = contractRoutes().filter(({ access }) => access.kind === 'permission')
const needed = [...new Set(guarded.map(permissionOf))]

function permissionOf({ access, verb }: Route): string {
  assert.ok(access.kind === 'permission')
  return `${access.resource}.${actionOf(verb)}`
}

/** Every route × every kind of credential there is; what is declared is what happens. */
describe('the permission matrix', () => {
  let stack: TestStack
  const principals = new Map<string, { api: Api; permissions: Permissions }>()

  before(async () => {
    stack = await startStack({ settings: { TRUST_PROXY: '1' } })
    const roles: [name: string, role: string | undefined, permissions: Permissions][] = [
      ['a token without a role, of an owner', undefined, '*'],
      ['a token of role owner', 'owner', '*'],
      ['a token of role admin', 'admin', '*'],
      ['a token of role user', 'user', userPermissions],
    ]
    for (const permission of needed) {
      const [resource, action] = permission.split('.') as [string, string]
      const role = { name: `only ${permission}`, kind: 'api', permissions: { [resource]: [action] } }
      await bodyOf(stack.owner.post('/api/access-control/save-role', role))
      roles.push([`a token that may ${permission}`, role.name, [permission]])
    }
    principals.set('a session of the owner', { api: stack.owner, permissions: '*' })
    for (const [name, role, permissions] of roles) {
      const { api } = await makeToken(stack.owner, role === undefined ? {} : { role })
      principals.set(name, { api, permissions })
    }
  })
  after(() => stack.stop())

  it('has a principal for each permission that a route needs', () => {
    assert.equal(principals.size, 5 + needed.length)
  })

  for (const route of guarded) {
    it(`${route.verb} ${route.path} takes ${permissionOf(route)}`, async () => {
      let address = 0
      for (const [name, { api, permissions }] of principals) {
        const client = api.with({ 'x-forwarded-for': `203.0.113.${address++}` })
        // The guard decides before the body is read: with an unknown id and no body nothing can come of it.
        const { status, text } = await client.request(route.verb, route.path.replace(/:\w+/g, 'f'.repeat(24)))
        const { access } = route
        assert.ok(access.kind === 'permission')
        if (allows(permissions, access.resource, access.action))
          assert.ok(![401, 403].includes(status), `${name}: ${status} ${text}`)
        else
          assert.deepEqual(
            [status, JSON.parse(text)],
            [403, { error: true, message: `Permission denied: ${permissionOf(route)}` }],
            name,
          )
      }
    })
  }

  it('lets every action be granted', () => {
    assert.deepEqual([...actions].sort(), ['create', 'delete', 'read', 'update'])
  })
})
