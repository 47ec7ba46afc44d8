import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtInRole, isPrivileged, lesserOf, resemblesBuiltIn } from './built-in.ts'
import { everyPermission, excessOf, parseGrants, permissionsOf, refuseExcess } from './permissions.ts'

describe('grants of a request', () => {
  it('come in the order of the catalogue, each action once', () => {
    const grants = parseGrants({ links: ['update', 'read', 'read'], audience: ['delete'] })
    assert.equal(JSON.stringify(grants), '{"audience":["delete"],"links":["read","update"]}')
    assert.deepEqual(permissionsOf(grants), ['audience.delete', 'links.read', 'links.update'])
  })

  it('may be none at all', () => assert.deepEqual(parseGrants({}), {}))

  for (const [what, text, code, path] of [
    ['an unknown resource', '{"rockets":["read"]}', 'request.invalid_field', 'permissions.rockets'],
    ['a resource inherited from Object', '{"__proto__":["read"]}', 'request.invalid_field', 'permissions.__proto__'],
    ['an unknown action', '{"links":["read","fly"]}', 'request.invalid_field', 'permissions.links'],
    ['an action that is no text', '{"links":[1]}', 'request.invalid_field', 'permissions.links'],
    ['an action that is an array', '{"links":[["read"]]}', 'request.invalid_field', 'permissions.links'],
    ['actions that are no array', '{"links":"read"}', 'request.invalid_field', 'permissions.links'],
    ['null', '{"links":null}', 'request.invalid_field', 'permissions.links'],
    ['no action', '{"links":[]}', 'request.empty_array', 'permissions.links'],
    [
      'no action, then an unknown resource',
      '{"links":[],"rockets":["read"]}',
      'request.invalid_field',
      'permissions.rockets',
    ],
  ] as const) {
    it(`are refused with ${what}`, () => assert.throws(() => parseGrants(JSON.parse(text)), { code, path }))
  }
})

describe('excess', () => {
  it('is what is wanted and not held, sorted', () => {
    const held = ['links.read', 'users.read']
    assert.deepEqual(excessOf(['users.update', 'links.read', 'links.delete'], held), ['links.delete', 'users.update'])
  })

  it('is nothing for a holder of all permissions', () => assert.deepEqual(excessOf('*', '*'), []))

  it('is everything else for a request of all permissions', () => {
    assert.deepEqual(
      excessOf('*', ['links.read']),
      everyPermission.filter(pair => pair !== 'links.read'),
    )
  })

  it('is refused by name', () => {
    assert.throws(() => refuseExcess(['users.update', 'links.delete'], ['links.read']), {
      code: 'role.exceeds_permissions',
      status: 403,
      message: 'Role exceeds your permissions: links.delete, users.update',
    })
    refuseExcess(['links.read'], ['links.read'])
  })
})

describe('built-in roles', () => {
  it('let a user read everything but what concerns administration', () => {
    const permissions = builtInRole('user')!.permissions
    assert.ok(Array.isArray(permissions))
    const withheld = [
      'tokens',
      'roles',
      'users',
      'email_provider',
      'email_suppressions',
      'settings',
      'webhooks',
      'events',
    ]
    const readable = everyPermission.filter(pair => pair.endsWith('.read') && !withheld.includes(pair.split('.')[0]!))
    assert.deepEqual(permissions, readable)
    assert.ok(permissions.includes('workflows_trigger_events.read'))
  })

  it('withhold nothing from owner and admin', () => {
    assert.deepEqual(['owner', 'admin', 'user', 'support'].map(isPrivileged), [true, true, false, false])
  })

  it('are recognised in any case, and nothing inherited is one', () => {
    assert.deepEqual(['Owner', 'user', 'constructor', 'users'].map(resemblesBuiltIn), [true, true, false, false])
  })

  it('have an order', () => {
    assert.equal(lesserOf('owner', 'admin'), 'admin')
    assert.equal(lesserOf('admin', 'owner'), 'admin')
    assert.equal(lesserOf('owner', 'owner'), 'owner')
  })
})
