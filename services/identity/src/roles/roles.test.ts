import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, type Harness, type Json, type Person, startHarness, unique } from '../../test/identity.ts'
import { permissionsOf } from './permissions.ts'

const publicFields = [
  '_id',
  'id',
  'name',
  'kind',
  'builtIn',
  'permissions',
  'description',
  'tokenCount',
  'memberCount',
  'createdAt',
  'updatedAt',
]
const notFound = { code: 'role.not_found', status: 404, message: 'role not found' }

describe('roles', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  type Options = { api?: Api; name?: string; kind?: 'api' | 'user'; description?: string }
  const save = (
    permissions: Record<string, unknown>,
    { api = owner.api, name = unique('role'), kind = 'api', ...rest }: Options = {},
  ) => api.roles.saveRole({ name, kind, permissions, ...rest })
  const personWith = async (permissions: Record<string, unknown>) => {
    const { name } = await save(permissions, { kind: 'user' })
    return harness.addPerson(owner.organizationId, String(name))
  }
  const createToken = (role: unknown, api = owner.api) =>
    api.tokens.createToken({ name: unique('token'), role: String(role) })
  const find = async (api: Api, query: object, kind?: 'api' | 'user') =>
    (await api.roles.listRoles({ list: query, ...(kind && { kind }) })).docs as unknown as Json[]
  const permissionTrail = async (userId: string) => {
    const filter = JSON.stringify({ type: { $regex: 'permissions_changed' } })
    const { docs } = await owner.api.users.listUserActivities({ id: userId, list: { filter } })
    return (docs as unknown as Json[]).map(({ type, data }) => ({ type, data }))
  }
  const stored = async (id: unknown) => (await find(owner.api, { filter: JSON.stringify({ id }) }))[0]
  const events = async (id: unknown) => {
    const entries = await harness.db
      .collection('outbox')
      .find({ 'event.subject': String(id) })
      .sort({ at: 1, _id: 1 })
      .toArray()
    return entries.map(({ event }) => event)
  }

  describe('save', () => {
    it('creates a role', async () => {
      const {
        affected,
        gained: _gained,
        lost: _lost,
        affectedNames: _names,
        ...role
      } = await save({ links: ['update', 'read', 'read'] }, { description: 'Editors' })
      assert.deepEqual(affected, { tokens: 0, members: 0 })
      assert.deepEqual(Object.keys(role), publicFields)
      const { _id, name, createdAt, updatedAt, ...rest } = role
      assert.deepEqual(rest, {
        id: _id,
        kind: 'api',
        builtIn: false,
        permissions: { links: ['read', 'update'] },
        description: 'Editors',
        tokenCount: 0,
        memberCount: 0,
      })
    })

    it('saves the role of that name, and publishes whom it affects', async () => {
      const { name, id, updatedAt } = await save({ links: ['read'] }, { description: 'kept' })
      await createToken(name)
      await createToken(name)
      const {
        affected,
        gained: _gained,
        lost: _lost,
        affectedNames: _names,
        ...role
      } = await save({ links: ['read', 'delete'] }, { name: String(name) })
      assert.deepEqual(affected, { tokens: 2, members: 0 })
      assert.deepEqual([role.id, role.description, role.tokenCount], [id, 'kept', 2])
      assert.deepEqual(role.permissions, { links: ['read', 'delete'] })
      assert.ok(String(role.updatedAt) > String(updatedAt))
    })

    it('affects members likewise, and nobody where the permissions stay', async () => {
      const { name } = await save({ links: ['read'] }, { kind: 'user' })
      await harness.addPerson(owner.organizationId, String(name))
      const wider = await save({ links: ['read', 'update'] }, { name: String(name), kind: 'user' })
      assert.deepEqual(wider.affected, { tokens: 0, members: 1 })
      const same = await save({ links: ['update', 'read'] }, { name: String(name), kind: 'user', description: 'new' })
      assert.deepEqual([same.affected, same.description], [{ tokens: 0, members: 0 }, 'new'])
    })

    it('leaves a record in the trail of each member and each token whose permissions it changes', async () => {
      const { name } = await save({ links: ['read'], assets: ['read'] }, { kind: 'user' })
      const member = await harness.addPerson(owner.organizationId, String(name))
      await save({ links: ['read', 'update'] }, { name: String(name), kind: 'user', description: 'narrower' })
      await save({ links: ['read', 'update'] }, { name: String(name), kind: 'user', description: 'the same' })
      const data = { role: name, by: 'role.saved', gained: ['links.update'], lost: ['assets.read'] }
      assert.deepEqual(await permissionTrail(member.userId), [{ type: 'user.permissions_changed', data }])

      const creator = await personWith({ tokens: ['create'], links: ['read'] })
      const api = await save({ links: ['read'] })
      const { id, name: tokenName } = await createToken(api.name, creator.api)
      await owner.api.roles.deleteRole({ id: String(api.id) })
      const token = { id, name: tokenName }
      const gone = { role: api.name, by: 'role.deleted', gained: [], lost: ['links.read'], token }
      assert.deepEqual(await permissionTrail(creator.userId), [{ type: 'token.permissions_changed', data: gone }])
    })

    for (const name of ['owner', 'admin', 'user', 'Admin']) {
      it(`refuses the name ${name}`, () => assert.rejects(save({}, { name }), { status: 400, path: 'name' }))
    }

    it('refuses to change the kind', async () => {
      const { name } = await save({ links: ['read'] })
      await assert.rejects(save({ links: ['read'] }, { name: String(name), kind: 'user' }), {
        status: 409,
        message: `role ${name} is of kind api`,
        path: 'kind',
      })
    })

    for (const [what, permissions, code, path] of [
      ['an unknown resource', { rockets: ['read'] }, 'request.invalid_field', 'permissions.rockets'],
      ['an unknown action', { links: ['fly'] }, 'request.invalid_field', 'permissions.links'],
      ['actions that are no array', { links: 'read' }, 'request.invalid_field', 'permissions.links'],
      ['no actions', { links: [] }, 'request.empty_array', 'permissions.links'],
    ] as const) {
      it(`refuses ${what}`, () => assert.rejects(save(permissions), { code, status: 400, path }))
    }

    it('refuses to grant beyond oneself, for a new role and for one that others carry', async () => {
      const person = await personWith({ roles: ['create'], links: ['read'] })
      const excess = { status: 403, message: 'Role exceeds your permissions: links.delete, users.read' }
      await assert.rejects(save({ users: ['read'], links: ['read', 'delete'] }, { api: person.api }), excess)
      const { name } = await save({ links: ['read'] })
      await createToken(name)
      await assert.rejects(
        save({ users: ['read'], links: ['delete'] }, { api: person.api, name: String(name) }),
        excess,
      )
      const narrowed = await save({ links: ['read'] }, { api: person.api, name: String(name) })
      assert.deepEqual(narrowed.permissions, { links: ['read'] })
    })

    it('refuses to widen one’s own role', async () => {
      const person = await personWith({ roles: ['create'] })
      const name = (await person.api.caller()).role
      await assert.rejects(save({ roles: ['create', 'delete'] }, { api: person.api, name, kind: 'user' }), {
        status: 403,
      })
    })

    it('by a token is bounded by the token', async () => {
      const { name } = await save({ roles: ['create'] })
      const { token } = await createToken(name)
      await assert.rejects(save({ links: ['read'] }, { api: harness.with(String(token)) }), { status: 403 })
    })

    it('publishes an event with whom it affects', async () => {
      const { name, id } = await save({ links: ['read'] })
      await createToken(name)
      await save({}, { name: String(name) })
      const [created, saved] = await events(id)
      assert.deepEqual([created.type, saved.type], ['role.saved', 'role.saved'])
      assert.deepEqual([created.data.affectedTokens, saved.data.affectedTokens, saved.data.affectedMembers], [0, 1, 0])
      assert.deepEqual(saved.data.role.permissions, {})
      assert.deepEqual(saved.data.actor, { kind: 'user', id: owner.userId, name: 'Owner' })
    })
  })

  describe('list', () => {
    let person: Person
    before(async () => {
      person = await harness.register()
      await save({ links: ['read'] }, { api: person.api, name: 'one' })
      await save({ links: ['read', 'update'] }, { api: person.api, name: 'two', kind: 'user' })
      await save({ users: ['read'] }, { api: person.api, name: 'three' })
    })
    const names = async (query: object = {}, kind?: 'api' | 'user') =>
      (await find(person.api, query, kind)).map(({ name }) => name)

    it('shows built-in roles first, then the newest', async () => {
      assert.deepEqual(await names(), ['owner', 'admin', 'user', 'three', 'two', 'one'])
      for (const role of await find(person.api, {})) assert.deepEqual(Object.keys(role), publicFields)
    })

    it('shows the roles of a kind, with the built-in ones, which are of both', async () => {
      assert.deepEqual(await names({}, 'api'), ['owner', 'admin', 'user', 'three', 'one'])
      assert.deepEqual(await names({}, 'user'), ['owner', 'admin', 'user', 'two'])
      assert.deepEqual(await names({ filter: '{"kind":"both"}' }), ['owner', 'admin', 'user'])
    })

    it('pages, sorts, filters and projects built-in roles and others alike', async () => {
      const page = await person.api.roles.listRoles({ list: { page: 2, limit: 4 } })
      assert.deepEqual([page.totalDocs, page.totalPages, page.hasPrevPage, page.nextPage], [6, 2, true, null])
      assert.deepEqual(
        (page.docs as unknown as Json[]).map(({ name }) => name),
        ['two', 'one'],
      )
      assert.deepEqual(await names({ sort: '{"name":1}' }), ['admin', 'one', 'owner', 'three', 'two', 'user'])
      assert.deepEqual(await names({ filter: '{"builtIn":false}' }), ['three', 'two', 'one'])
      assert.deepEqual(await names({ filter: '{"permissions.links":"update"}' }), ['owner', 'admin', 'two'])
      assert.deepEqual(await names({ filter: '{"memberCount":{"$gte":1}}' }), ['owner'])
      const [role] = await find(person.api, { projection: '{"permissions":0}', limit: 1 })
      assert.equal(role!.permissions, undefined)
      const all = (await person.api.roles.listRoles({ list: { pagination: false } })) as unknown as Json[]
      assert.equal(all.length, 6)
    })

    it('shows what built-in roles allow', async () => {
      const [, admin, user] = await find(person.api, {})
      assert.equal(permissionsOf(admin!.permissions as object).length, 116)
      assert.ok(permissionsOf(user!.permissions as object).every(pair => pair.endsWith('.read')))
    })

    for (const field of ['organization', 'rank', '__proto__']) {
      it(`knows no field ${field}`, () =>
        assert.rejects(person.api.roles.listRoles({ list: { filter: `{"${field}":1}` } }), {
          status: 400,
          path: 'filter',
        }))
    }

    it('needs the permission', async () => {
      const reader = await harness.addPerson(person.organizationId, 'user')
      await assert.rejects(reader.api.roles.listRoles({}), { status: 403, message: 'Permission denied: roles.read' })
    })
  })

  describe('delete', () => {
    it('answers the role, and it is gone', async () => {
      const {
        affected: _,
        gained: _gained,
        lost: _lost,
        affectedNames: _names,
        ...role
      } = await save({ links: ['read'] })
      const id = String(role.id)
      assert.deepEqual(await owner.api.roles.deleteRole({ id }), role)
      assert.equal(await stored(id), undefined)
      await assert.rejects(owner.api.roles.deleteRole({ id }), notFound)
      assert.deepEqual(
        (await events(id)).map(({ type }) => type),
        ['role.saved', 'role.deleted'],
      )
    })

    it('is refused while a member carries the role', async () => {
      const { name, id } = await save({ links: ['read'] }, { kind: 'user' })
      const person = await harness.addPerson(owner.organizationId, String(name))
      await assert.rejects(owner.api.roles.deleteRole({ id: String(id) }), { code: 'role.in_use', status: 409 })
      assert.equal((await person.api.caller()).role, name)
    })

    it('is refused for built-in roles', async () => {
      for (const { id } of await find(owner.api, { filter: '{"builtIn":true}' })) {
        await assert.rejects(owner.api.roles.deleteRole({ id: String(id) }), { status: 400, path: 'id' })
      }
      assert.equal((await find(owner.api, { filter: '{"builtIn":true}' })).length, 3)
    })
  })

  it('have a catalogue of permissions', async () => {
    const catalogue = (await owner.api.roles.listPermissions({})) as unknown as Json[]
    assert.equal(catalogue.length, 29)
    assert.deepEqual(
      catalogue.find(({ resource }) => String(resource) === 'links'),
      {
        resource: 'links',
        actions: ['read', 'create', 'update', 'delete'],
        description: 'Short links',
      },
    )
    assert.equal(catalogue.filter(({ resource }) => String(resource).startsWith('workflows')).length, 8)
  })

  describe('at the same time', () => {
    it('saves of one name make one role, and the last to be written stands', async () => {
      const name = unique('role')
      const wanted = [['read'], ['create'], ['update'], ['delete'], ['read', 'update']]
      const saved = await Promise.all(wanted.map(links => save({ links }, { name })))
      assert.equal(new Set(saved.map(({ id }) => id)).size, 1)
      const last = (await events(saved[0]!.id)).at(-1)
      assert.deepEqual((await stored(saved[0]!.id))!.permissions, last.data.role.permissions)
    })

    it('saves of one name with both kinds make one role, of one kind', async () => {
      for (let round = 0; round < 5; round++) {
        const name = unique('role')
        const attempts = await Promise.allSettled([
          save({ links: ['read'] }, { name }),
          save({ links: ['update'] }, { name, kind: 'user' }),
        ])
        const [refused, ...others] = attempts.filter(({ status }) => status === 'rejected')
        assert.equal(others.length, 0)
        assert.equal((refused as PromiseRejectedResult).reason.status, 409)
        assert.equal((await find(owner.api, { filter: JSON.stringify({ name }) })).length, 1)
      }
    })

    it('a token never gets more than its creator may grant, even if the role is widened concurrently', async () => {
      const person = await personWith({ tokens: ['create'], links: ['read'] })
      for (let round = 0; round < 8; round++) {
        const { name, id } = await save({ links: ['read'] })
        const [made] = await Promise.allSettled([
          createToken(name, person.api),
          save({ links: ['read'], users: ['delete'] }, { name: String(name) }),
        ])
        // Either the token came first and the owner's change affects it, or it was refused.
        const affected = (await events(id)).at(-1).data.affectedTokens
        assert.equal(affected, made.status === 'fulfilled' ? 1 : 0)
        if (made.status === 'rejected') assert.equal(made.reason.status, 403)
      }
    })

    it('a role that is deleted leaves no token that works', async () => {
      for (let round = 0; round < 8; round++) {
        const { name, id } = await save({ links: ['read'] })
        const attempts = await Promise.allSettled([
          createToken(name),
          createToken(name),
          owner.api.roles.deleteRole({ id: String(id) }),
        ])
        for (const attempt of attempts.slice(0, 2)) {
          if (attempt.status === 'fulfilled')
            await assert.rejects(harness.with(String(attempt.value.token)).caller(), { status: 401 })
          else assert.equal(attempt.reason.message, `Unknown API role: ${name}`)
        }
      }
    })
  })

  describe('of another organization', () => {
    it('are as unknown as those that do not exist, and may have the same name', async () => {
      const stranger = await harness.register()
      const { id, name } = await save({ links: ['read'] })
      const refusal = (id: string) =>
        stranger.api.roles.deleteRole({ id }).then(
          () => 'done',
          ({ code, body }) => JSON.stringify({ code, body }),
        )
      assert.equal(await refusal(String(id)), await refusal('f'.repeat(24)))
      const other = await save({ users: ['read'] }, { api: stranger.api, name: String(name), kind: 'user' })
      assert.notEqual(other.id, id)
      assert.deepEqual((await stored(id))!.permissions, { links: ['read'] })
    })
  })
})
