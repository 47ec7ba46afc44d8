import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, unknownId } from '../every-route.ts'
import { addPerson, type Refusal, type Role, saveRole, unique } from './people.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Activity = { type: string; data: Record<string, unknown> }

const saveRolePath = '/api/access-control/save-role'
const noOne = { tokens: 0, members: 0 }

describe('roles', () => {
  let stack: IdentityStack
  let owner: Api
  before(async () => {
    stack = await startIdentityStack()
    owner = fromElsewhere(stack.owner)
  })
  after(() => stack?.stop())

  const list = async (query: Record<string, unknown> = {}) =>
    (await bodyOf(fromElsewhere(owner).get<Page<Role>>('/api/access-control/roles', { $limit: 1000, ...query }))).docs
  const refused = (body: object, status: number, api = owner) =>
    bodyOf(fromElsewhere(api).post<Refusal>(saveRolePath, body), status)
  const removed = (id: string, status = 200) =>
    bodyOf(fromElsewhere(owner).delete<Role & Refusal>(`/api/access-control/roles/${id}`), status)

  describe('200', () => {
    it('save-role creates a role, and answers it with whom it affects', async () => {
      const name = unique('role')
      const role = await saveRole(owner, { links: ['update', 'read'] }, { name, description: 'Editors' })
      assert.deepEqual(
        [role.name, role.kind, role.builtIn, role.permissions, role.tokenCount, role.memberCount, role.affected],
        [name, 'api', false, { links: ['read', 'update'] }, 0, 0, { tokens: 0, members: 0 }],
      )
    })

    it('answers one role', async () => {
      const { affected, gained, lost, affectedNames, ...role } = await saveRole(owner, { links: ['read'] })
      assert.deepEqual(
        [affected, gained, lost, affectedNames],
        [noOne, ['links.read'], [], { tokens: [], members: [] }],
      )
      assert.deepEqual(await bodyOf(owner.get(`/api/access-control/roles/${role.id}`)), role)
    })

    it('save-role shows what a dry run would change, and changes nothing', async () => {
      const before = await saveRole(owner, { users: ['read'], links: ['read'] }, { kind: 'user' })
      const member = await addPerson(stack, before.name)
      const wanted = { name: before.name, kind: 'user', permissions: { links: ['read', 'create'] } }
      const expected = {
        affected: { tokens: 0, members: 1 },
        gained: ['links.create'],
        lost: ['users.read'],
        affectedNames: { tokens: [], members: ['Person'] },
      }
      const dry = await bodyOf(fromElsewhere(owner).post<Role>(saveRolePath, { ...wanted, dryRun: true }))
      assert.deepEqual({ ...dry, ...expected }, dry)
      assert.equal((await member.api.get('/api/users')).status, 200)
      const saved = await bodyOf(fromElsewhere(owner).post<Role>(saveRolePath, wanted))
      assert.deepEqual({ ...saved, ...expected }, saved)
      assert.equal((await member.api.get('/api/users')).status, 403)
    })

    it('a dry run stores no new role, and gets the refusals of the save', async () => {
      const name = unique('role')
      const wanted = { name, kind: 'api', permissions: { links: ['read'] }, dryRun: true }
      assert.deepEqual((await bodyOf(fromElsewhere(owner).post<Role>(saveRolePath, wanted))).gained, ['links.read'])
      assert.deepEqual(await list({ filter: { name } }), [])
      const { name: taken } = await saveRole(owner, {})
      await refused({ ...wanted, name: taken, kind: 'user' }, 409)
    })

    it('save-role names only what the caller may read', async () => {
      const { name } = await saveRole(owner, { links: ['read'] })
      await makeToken(fromElsewhere(owner), { role: name, name: 'touched' })
      const namesFor = async (api: Api, permissions: object) =>
        (await saveRole(api, permissions, { name })).affectedNames
      assert.deepEqual((await namesFor(owner, {})).tokens, ['touched'])
      const editor = await saveRole(owner, { roles: ['create'], links: ['read'] }, { kind: 'user' })
      const { api } = await addPerson(stack, editor.name)
      assert.deepEqual(await namesFor(api, { links: ['read'] }), { tokens: [], members: [] })
    })

    it('save-role saves the role of that name: its permissions change for all who have it', async () => {
      const { id, name } = await saveRole(owner, { users: ['read'] }, { kind: 'user' })
      const member = await addPerson(stack, name)
      assert.equal((await member.api.get('/api/users')).status, 200)
      const saved = await saveRole(owner, { links: ['read'] }, { kind: 'user', name })
      assert.deepEqual([saved.id, saved.memberCount, saved.affected], [id, 1, { tokens: 0, members: 1 }])
      assert.equal((await fromElsewhere(member.api).get('/api/users')).status, 403)
    })

    it('a change leaves a record with every member and every token that it touches', async () => {
      const { name } = await saveRole(owner, { users: ['read'] }, { kind: 'user' })
      const member = await addPerson(stack, name)
      await saveRole(owner, { users: ['read'], links: ['read'] }, { kind: 'user', name })
      const creator = await addPerson(stack, 'admin')
      const { name: apiRole } = await saveRole(owner, { links: ['read'] })
      const { id: token } = await makeToken(creator.api, { role: apiRole, name: 'touched' })
      assert.deepEqual((await saveRole(owner, {}, { name: apiRole })).affected, { tokens: 1, members: 0 })
      const trailOf = async (userId: string) => {
        const filter = { type: { $in: ['user.permissions_changed', 'token.permissions_changed'] } }
        const activities = fromElsewhere(owner).get<Page<Activity>>(`/api/users/${userId}/activities`, { filter })
        return (await bodyOf(activities)).docs.map(({ type, data }) => ({ type, data }))
      }
      const gained = { role: name, by: 'role.saved', gained: ['links.read'], lost: [] }
      assert.deepEqual(await trailOf(member.id), [{ type: 'user.permissions_changed', data: gained }])
      const data = {
        role: apiRole,
        by: 'role.saved',
        gained: [],
        lost: ['links.read'],
        token: { id: token, name: 'touched' },
      }
      assert.deepEqual(await trailOf(creator.id), [{ type: 'token.permissions_changed', data }])
    })

    it('kind=api lists roles a token may take, kind=user those a member may take, no kind both; built-ins first', async () => {
      const forTokens = (await saveRole(owner, {})).name
      const forMembers = (await saveRole(owner, {}, { kind: 'user' })).name
      const namesOf = async (query: Record<string, unknown>) => (await list(query)).map(({ name }) => name)
      const builtIns = ['owner', 'admin', 'user']
      for (const [query, has, hasNot] of [
        [{ kind: 'api' }, [forTokens], [forMembers]],
        [{ kind: 'user' }, [forMembers], [forTokens]],
        [{}, [forTokens, forMembers], []],
      ] as const) {
        const names = await namesOf(query)
        assert.deepEqual(names.slice(0, 3), builtIns)
        for (const name of has) assert.ok(names.includes(name))
        for (const name of hasNot) assert.ok(!names.includes(name))
      }
      assert.deepEqual(await namesOf({ filter: { kind: 'both' } }), builtIns)
    })

    it('the list takes the shared parameters', async () => {
      const { name } = await saveRole(owner, { assets: ['read'] })
      assert.deepEqual(
        (await list({ filter: { name }, projection: { name: 1 } })).map(role => Object.keys(role)),
        [['_id', 'id', 'name']],
      )
      const page = await bodyOf(
        fromElsewhere(owner).get<Page<Role>>('/api/access-control/roles', { $limit: 2, sort: { name: 1 } }),
      )
      assert.equal(page.docs.length, 2)
      assert.ok(page.docs[0]!.name < page.docs[1]!.name)
    })

    it('the catalogue names every resource with its actions', async () => {
      type Permission = { resource: string; actions: string[]; description: string }
      const catalogue = await bodyOf(fromElsewhere(owner).get<Permission[]>('/api/access-control/permissions'))
      const workflows = catalogue.filter(({ resource }) => resource.startsWith('workflows'))
      assert.equal(workflows.length, 8)
      for (const { actions, description } of catalogue)
        assert.deepEqual([actions, description.length > 0], [['read', 'create', 'update', 'delete'], true])
    })

    it('deleting answers the role, and it is gone', async () => {
      const {
        affected: _,
        gained: _gained,
        lost: _lost,
        affectedNames: _names,
        ...role
      } = await saveRole(owner, { links: ['read'] })
      assert.deepEqual(await removed(role.id), role)
      assert.deepEqual(await list({ filter: { name: role.name } }), [])
    })
  })

  describe('400', () => {
    const bad: [what: string, change: object, message: string][] = [
      ['a missing name', { name: undefined }, 'missing field -> name'],
      ['a missing kind', { kind: undefined }, 'missing field -> kind'],
      ['missing permissions', { permissions: undefined }, 'missing field -> permissions'],
      ['an unknown kind', { kind: 'both' }, 'invalid field -> kind: must be one of api, user'],
      [
        'an unknown resource',
        { permissions: { rockets: ['read'] } },
        'invalid field -> permissions.rockets: unknown resource',
      ],
      [
        'an unknown action',
        { permissions: { links: ['fly'] } },
        'invalid field -> permissions.links: actions are read, create, update, delete',
      ],
      ['no actions', { permissions: { links: [] } }, 'empty array -> permissions.links'],
      ['the name of a built-in role', { name: 'Admin' }, 'invalid field -> name: reserved for a built-in role'],
      ['an extra field', { builtIn: true }, 'extra field -> builtIn'],
    ]
    for (const [what, change, message] of bad) {
      it(`save-role refuses ${what}`, async () => {
        const body = { name: unique('role'), kind: 'api', permissions: {}, ...change }
        assert.equal((await refused(body, 400)).message, message)
      })
    }

    it('a built-in role cannot be deleted', async () => {
      for (const { id } of await list({ filter: { builtIn: true } })) await removed(id, 400)
    })
  })

  describe('401 and 403', () => {
    it('without a credential there are no roles', async () => {
      assert.equal((await fromElsewhere(stack.api).get('/api/access-control/roles')).status, 401)
    })

    it('saving needs create, also for a role that exists', async () => {
      const { name: role } = await saveRole(owner, { roles: ['read', 'update', 'delete'] })
      const { api } = await makeToken(owner, { role })
      const body = { name: role, kind: 'api', permissions: {} }
      assert.equal((await refused(body, 403, api)).message, 'Permission denied: roles.create')
    })

    it('nobody can grant more than their own permissions, nor widen a role that others have', async () => {
      const editor = await addPerson(
        stack,
        (await saveRole(owner, { roles: ['create'], links: ['read'] }, { kind: 'user' })).name,
      )
      const { name } = await saveRole(owner, { links: ['read'] })
      const message = 'Role exceeds your permissions: links.delete, users.read'
      const permissions = { users: ['read'], links: ['read', 'delete'] }
      for (const body of [
        { name, kind: 'api' },
        { name: unique('role'), kind: 'user' },
      ])
        assert.equal((await refused({ ...body, permissions }, 403, editor.api)).message, message)
    })
  })

  describe('404 and 409', () => {
    it('an unknown role cannot be deleted', async () => {
      assert.deepEqual(await removed(unknownId, 404), { error: true, message: 'role not found' })
    })

    it('an existing role saved with the other kind is a conflict', async () => {
      const { name } = await saveRole(owner, {})
      const { message } = await refused({ name, kind: 'user', permissions: {} }, 409)
      assert.equal(message, `role ${name} is of kind api`)
    })

    it('a role that a member carries cannot be deleted; without members it can', async () => {
      const { id, name } = await saveRole(owner, {}, { kind: 'user' })
      const member = await addPerson(stack, name)
      await removed(id, 409)
      await bodyOf(fromElsewhere(owner).patch(`/api/users/${member.id}/change-role`, { role: 'user' }))
      await removed(id)
    })
  })
})
