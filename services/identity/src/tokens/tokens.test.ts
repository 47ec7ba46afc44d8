import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { type Api, type Harness, type Json, type Person, startHarness, unique } from '../../test/identity.ts'
import { builtInRole } from '../roles/built-in.ts'

const publicFields = [
  '_id',
  'id',
  'name',
  'description',
  'expiresAt',
  'role',
  'active',
  'archived',
  'tokenPreview',
  'status',
  'createdBy',
  'lastUsedAt',
  'lastUsedIp',
  'allowedIps',
  'createdAt',
  'updatedAt',
]
const unknownToken = { status: 401, message: 'Invalid or inactive API token.' }
const notFound = { code: 'token.not_found', status: 404, message: 'token not found' }

describe('tokens', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  const saveRole = (permissions: Record<string, unknown>, options: { kind?: 'api' | 'user'; name?: string } = {}) =>
    owner.api.roles.saveRole({
      name: unique('role'),
      kind: 'api',
      permissions,
      ...options,
    })
  const personWith = async (permissions: Record<string, unknown>) => {
    const { name } = await saveRole(permissions, { kind: 'user' })
    return harness.addPerson(owner.organizationId, String(name))
  }
  const create = (api: Api, request: Partial<Parameters<Api['tokens']['createToken']>[0]> = {}) =>
    api.tokens.createToken({ name: unique('token'), ...request })
  const use = (token: Json) => harness.with(String(token.token))
  const stored = (id: unknown) => harness.db.collection('tokens').findOne({ _id: new Types.ObjectId(String(id)) })
  const outbox = (id: unknown) =>
    harness.db
      .collection('outbox')
      .find({ 'event.subject': String(id) })
      .sort({ at: 1, _id: 1 })
      .toArray()

  describe('create', () => {
    it('answers the record and, here alone, the secret', async () => {
      const { token, ...record } = await create(owner.api, { name: 'CI', description: 'of the build' })
      assert.deepEqual(Object.keys(record), publicFields)
      const { _id, createdAt, updatedAt, tokenPreview, ...rest } = record
      assert.deepEqual(rest, {
        id: _id,
        name: 'CI',
        description: 'of the build',
        expiresAt: null,
        role: null,
        active: true,
        archived: false,
        status: 'active',
        createdBy: { kind: 'user', id: owner.userId, name: 'Owner' },
        lastUsedAt: null,
        lastUsedIp: null,
        allowedIps: [],
      })
      const [organizationId, secret] = String(token).split(':') as [string, string]
      assert.equal(organizationId, owner.organizationId)
      assert.match(secret, /^[A-Za-z0-9]{60}$/)
      assert.equal(tokenPreview, `${organizationId}:${secret.slice(0, 4)}********${secret.slice(-4)}`)
    })

    it('stores neither the secret nor anything it could be computed from', async () => {
      const { token, id } = await create(owner.api)
      const secret = String(token).split(':')[1]!
      const everything = JSON.stringify([await stored(id), await outbox(id), await owner.api.tokens.listTokens({})])
      assert.ok(!everything.includes(secret))
      assert.match((await stored(id))!.hash, /^test:[\w-]{43}$/)
    })

    it('takes an expiry in the future', async () => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
      assert.equal((await create(owner.api, { expiresAt })).expiresAt, expiresAt)
      assert.equal((await create(owner.api, { expiresAt: null })).expiresAt, null)
    })

    for (const expiresAt of ['yesterday', '2020-01-01', 12345, true, {}, [], '']) {
      it(`refuses to expire at ${JSON.stringify(expiresAt)}`, () =>
        assert.rejects(create(owner.api, { expiresAt }), {
          status: 400,
          message: 'expiresAt must be a valid future date.',
          path: 'expiresAt',
        }))
    }

    it('refuses a role that does not exist, is for members, or belongs to another organization', async () => {
      const stranger = await harness.register()
      const foreign = unique('foreign')
      await stranger.api.roles.saveRole({ name: foreign, kind: 'api', permissions: {} })
      const { name: forMembers } = await saveRole({ links: ['read'] }, { kind: 'user' })
      for (const role of ['nobody', foreign, String(forMembers), 'Owner', '$ne', 'constructor']) {
        await assert.rejects(create(owner.api, { role }), {
          status: 400,
          message: `Unknown API role: ${role}`,
          path: 'role',
        })
      }
    })

    it('always takes the built-in roles', async () => {
      for (const role of ['owner', 'admin', 'user']) assert.equal((await create(owner.api, { role })).role, role)
    })

    it('refuses a role that exceeds the creator, naming what exceeds, sorted', async () => {
      const person = await personWith({ tokens: ['create'], links: ['read'] })
      const { name } = await saveRole({ users: ['update'], links: ['delete', 'read'] })
      await assert.rejects(create(person.api, { role: String(name) }), {
        status: 403,
        message: 'Role exceeds your permissions: links.delete, users.update',
        body: { error: true, message: 'Role exceeds your permissions: links.delete, users.update' },
      })
      await assert.rejects(create(person.api, { role: 'admin' }), {
        status: 403,
        message: /^Role exceeds your permissions: assets\.create, /,
      })
      const { name: within } = await saveRole({ links: ['read'] })
      assert.equal((await create(person.api, { role: String(within) })).role, within)
    })

    it('leaves nothing behind when it refuses', async () => {
      const person = await personWith({ tokens: ['create', 'read'], roles: ['read'] })
      const { name } = await saveRole({ users: ['update'] })
      const before = await owner.api.tokens.listTokens({})
      await assert.rejects(create(person.api, { role: String(name) }), { status: 403 })
      assert.equal((await owner.api.tokens.listTokens({})).totalDocs, before.totalDocs)
      const { docs } = await owner.api.roles.listRoles({ list: { filter: JSON.stringify({ name }) } })
      assert.equal((docs as unknown as Json[])[0]!.tokenCount, 0)
    })

    it('by a token with a role gives that role where none is named', async () => {
      const { name, id } = await saveRole({ tokens: ['create'], links: ['read'] })
      const parent = await create(owner.api, { role: String(name) })
      const child = await create(use(parent), {})
      assert.equal(child.role, name)
      assert.deepEqual(child.createdBy, { kind: 'token', id: parent.id, name: parent.name })
      assert.equal(String((await stored(child.id))!.roleId), id)
      assert.deepEqual((await use(child).caller()).permissions, ['links.read', 'tokens.create'])
      assert.equal((await use(child).caller()).userId, owner.userId)
    })

    it('by a token with a role cannot reach beyond it, though its creator could', async () => {
      const { name } = await saveRole({ tokens: ['create'] })
      const parent = await create(owner.api, { role: String(name) })
      for (const role of ['owner', 'admin', 'user'])
        await assert.rejects(create(use(parent), { role }), { status: 403 })
    })

    it('by a token cannot reach above its rank, though it has every permission', async () => {
      const { name } = await saveRole(builtInRole('owner')!.grants)
      const rich = use(await create(owner.api, { role: String(name) }))
      const admin = use(await create(owner.api, { role: 'admin' }))
      for (const [api, role] of [
        [rich, 'owner'],
        [rich, 'admin'],
        [admin, 'owner'],
      ] as const)
        await assert.rejects(create(api, { role }), { code: 'role.above_rank', status: 403 })
      assert.equal((await use(await create(admin, { role: 'admin' })).caller()).role, 'admin')
    })

    it('by a token without a role gives one that acts as the same person', async () => {
      const child = await create(use(await create(owner.api)))
      assert.equal(child.role, null)
      assert.equal((await use(child).caller()).permissions, '*')
    })

    it('needs the permission', async () => {
      const person = await personWith({ tokens: ['read'] })
      await assert.rejects(create(person.api), { status: 403, message: 'Permission denied: tokens.create' })
    })

    it('publishes its event in the same transaction', async () => {
      const { token: _, ...record } = await create(owner.api)
      const [entry, ...more] = await outbox(record.id)
      assert.equal(more.length, 0)
      const { type, source, organization, data } = entry!.event
      assert.deepEqual([type, source, organization], ['token.created', 'identity', owner.organizationId])
      const actor = { kind: 'user', id: owner.userId, name: 'Owner' }
      assert.deepEqual(JSON.parse(JSON.stringify(data)), { token: record, actor })
    })
  })

  describe('list and get', () => {
    let person: Person
    const records: Json[] = []
    before(async () => {
      person = await harness.register()
      const names = ['a', 'b', 'c', 'd', 'e']
      for (const name of names)
        records.push(await create(person.api, { name, description: name === 'a' ? 'first' : '' }))
    })
    const list = (query = {}) => person.api.tokens.listTokens({ list: query }) as Promise<Json>
    const names = async (query = {}) => ((await list(query)).docs as unknown as Json[]).map(({ name }) => name)

    it('shows the newest first, never a secret', async () => {
      const page = await list()
      assert.equal(page.totalDocs, 5)
      const docs = page.docs as unknown as Json[]
      assert.deepEqual(
        docs.map(doc => doc.name),
        ['e', 'd', 'c', 'b', 'a'],
      )
      for (const doc of docs) assert.deepEqual(Object.keys(doc), publicFields)
    })

    it('pages, sorts, filters and projects', async () => {
      assert.deepEqual(await names({ page: 2, limit: 2 }), ['c', 'b'])
      assert.deepEqual(await names({ sort: '{"name":1}', limit: 2 }), ['a', 'b'])
      assert.deepEqual(await names({ filter: '{"description":"first"}' }), ['a'])
      assert.deepEqual(await names({ filter: `{"createdBy.id":"${person.userId}"}`, limit: 1 }), ['e'])
      const [doc] = (await list({ projection: '{"name":1}', limit: 1 })).docs as unknown as Json[]
      assert.deepEqual(Object.keys(doc!), ['_id', 'id', 'name'])
      const all = (await list({ pagination: false })) as unknown as Json[]
      assert.equal(all.length, 5)
    })

    it('filters by status', async () => {
      await person.api.tokens.updateToken({ id: String(records[1]!.id), active: false })
      assert.deepEqual(await names({ filter: '{"status":"inactive"}' }), ['b'])
      assert.deepEqual(await names({ filter: '{"status":{"$ne":"active"}}' }), ['b'])
    })

    for (const field of [
      'hash',
      'creator',
      'roleId',
      'organization',
      'roleGone',
      'createdBy.secret',
      '__proto__',
      'token',
    ]) {
      for (const parameter of ['filter', 'sort', 'projection'] as const) {
        it(`knows no field ${field} in ${parameter}`, () =>
          assert.rejects(list({ [parameter]: JSON.stringify({ [field]: 1 }) }), { status: 400, path: parameter }))
      }
    }

    it('gets one', async () => {
      const { token: _, ...record } = records[0]!
      assert.deepEqual(await person.api.tokens.getToken({ id: String(record.id) }), record)
    })
  })

  describe('status', () => {
    const status = async (id: unknown) => (await owner.api.tokens.getToken({ id: String(id) })).status
    const edit = (id: unknown, set: object) =>
      harness.db.collection('tokens').updateOne({ _id: new Types.ObjectId(String(id)) }, { $set: set })

    it('says why a token is refused', async () => {
      const { id } = await create(owner.api)
      assert.equal(await status(id), 'active')
      await edit(id, { expiresAt: new Date(Date.now() - 1) })
      assert.equal(await status(id), 'expired')
      await owner.api.tokens.updateToken({ id: String(id), active: false })
      assert.equal(await status(id), 'inactive')
      await owner.api.tokens.updateToken({ id: String(id), archived: true })
      assert.equal(await status(id), 'archived')
    })

    it('reports that the role or the creator was deleted', async () => {
      const { name, id: roleId } = await saveRole({ links: ['read'] })
      const { id } = await create(owner.api, { role: String(name) })
      await owner.api.roles.deleteRole({ id: String(roleId) })
      assert.equal(await status(id), 'role-missing')
      await edit(id, { creatorGone: true })
      assert.equal(await status(id), 'creator-missing')
    })
  })

  describe('update', () => {
    it('changes what it names and nothing else', async () => {
      const { token: _, updatedAt: before, ...created } = await create(owner.api)
      const id = String(created.id)
      const updated = await owner.api.tokens.updateToken({ id, name: 'renamed', description: 'now' })
      assert.deepEqual(updated, { success: true, message: 'updated' })
      const { updatedAt, ...record } = await owner.api.tokens.getToken({ id })
      assert.deepEqual(record, { ...created, name: 'renamed', description: 'now' })
      assert.ok(String(updatedAt) > String(before))
    })

    it('can be taken back', async () => {
      const token = await create(owner.api)
      const id = String(token.id)
      await use(token).caller()
      await owner.api.tokens.updateToken({ id, active: false })
      await assert.rejects(use(token).caller(), unknownToken)
      await owner.api.tokens.updateToken({ id, active: true })
      assert.equal((await use(token).caller()).tokenId, id)
    })

    it('lets nobody widen what exceeds them, but everybody with the permission stop it', async () => {
      const { name } = await saveRole({ tokens: ['read', 'update'] })
      const narrow = use(await create(owner.api, { role: String(name) })).tokens
      const admin = (await harness.addPerson(owner.organizationId, 'admin')).api.tokens
      const token = await create(owner.api)
      const id = String(token.id)
      for (const [stop, widen] of [
        [{ active: false }, { active: true }],
        [{ archived: true }, { archived: false }],
      ]) {
        await narrow.updateToken({ id, ...stop })
        for (const { updateToken } of [narrow, admin])
          await assert.rejects(updateToken({ id, ...widen }), { code: 'account.higher_rank', status: 403 })
        await narrow.updateToken({ id, ...stop, description: 'stopped' })
        await owner.api.tokens.updateToken({ id, ...widen })
      }
      await assert.rejects(narrow.setAllowedIps({ id, cidrs: ['192.0.2.1'] }), { status: 403 })
      const { id: within } = await create(owner.api, { role: String(name) })
      await narrow.updateToken({ id: String(within), active: false })
      await narrow.updateToken({ id: String(within), active: true })
    })

    it('lets no token free itself of its addresses', async () => {
      const token = await create(owner.api)
      const id = String(token.id)
      await assert.rejects(use(token).tokens.setAllowedIps({ id, cidrs: [] }), {
        code: 'access.session_required',
        status: 403,
      })
    })

    it('publishes what changed', async () => {
      const token = await create(owner.api)
      const id = String(token.id)
      await owner.api.tokens.updateToken({ id, name: String(token.name), active: false, description: 'off' })
      const [, { event }] = (await outbox(id)) as [unknown, Json]
      assert.equal(event!.type, 'token.updated')
      assert.deepEqual(event!.data!.changed, ['description', 'active'])
      assert.deepEqual([event!.data!.token!.active, event!.data!.token!.status], [false, 'inactive'])
      assert.equal(event!.data!.token!.token, undefined)
    })
  })

  describe('delete', () => {
    it('answers the record, and the token is gone', async () => {
      const { name, id: roleId } = await saveRole({ links: ['read'] })
      const { token: _, ...created } = await create(owner.api, { role: String(name) })
      const id = String(created.id)
      assert.deepEqual(await owner.api.tokens.deleteToken({ id }), created)
      await assert.rejects(owner.api.tokens.getToken({ id }), notFound)
      await assert.rejects(owner.api.tokens.deleteToken({ id }), notFound)
      assert.deepEqual(
        (await outbox(id)).map(({ event }) => event.type),
        ['token.created', 'token.deleted'],
      )
      assert.equal((await owner.api.roles.deleteRole({ id: String(roleId) })).tokenCount, 0)
    })

    it('happens once, however many ask', async () => {
      const { id } = await create(owner.api)
      const attempts = await Promise.allSettled(
        Array.from({ length: 4 }, () => owner.api.tokens.deleteToken({ id: String(id) })),
      )
      assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await outbox(id)).length, 2)
    })
  })

  describe('at once, on a warm cache', () => {
    const warm = async (request = {}) => {
      const token = await create(owner.api, request)
      const api = use(token)
      for (let round = 0; round < 3; round++) await api.caller()
      return { api, id: String(token.id) }
    }

    for (const [what, change] of [
      ['inactive', (id: string) => owner.api.tokens.updateToken({ id, active: false })],
      ['archived', (id: string) => owner.api.tokens.updateToken({ id, archived: true })],
      ['deleted', (id: string) => owner.api.tokens.deleteToken({ id })],
    ] as const) {
      it(`a token that was made ${what} is refused`, async () => {
        const { api, id } = await warm()
        await change(id)
        await assert.rejects(api.caller(), unknownToken)
      })
    }

    it('a token past its expiry is refused', async () => {
      const expiresAt = Date.now() + scaledTimeout(700)
      const { api } = await warm({ expiresAt: new Date(expiresAt).toISOString() })
      await pause(expiresAt - Date.now() + 5)
      await assert.rejects(api.caller(), unknownToken)
    })

    it('a new name is the one that it acts under', async () => {
      const { api, id } = await warm()
      await owner.api.tokens.updateToken({ id, name: 'renamed' })
      assert.equal((await api.caller()).tokenName, 'renamed')
    })

    it('an edit of its role holds', async () => {
      const { name } = await saveRole({ tokens: ['read'], links: ['read'] })
      const { api } = await warm({ role: name })
      await api.tokens.listTokens({})
      await saveRole({ links: ['read'] }, { name: String(name) })
      await assert.rejects(api.tokens.listTokens({}), { status: 403, message: 'Permission denied: tokens.read' })
    })

    it('a token whose role was deleted is refused', async () => {
      const { name, id } = await saveRole({ tokens: ['read'] })
      const { api } = await warm({ role: name })
      await owner.api.roles.deleteRole({ id: String(id) })
      await assert.rejects(api.caller(), { status: 401, message: 'Token role not found.' })
    })

    it('holds during many concurrent requests', async () => {
      const { api, id } = await warm()
      let isOver = false
      const readers = Array.from({ length: 4 }, async () => {
        while (!isOver) await api.caller().catch(() => undefined)
      })
      try {
        for (let round = 0; round < 15; round++) {
          await owner.api.tokens.updateToken({ id, active: false })
          await assert.rejects(api.caller(), unknownToken)
          await owner.api.tokens.updateToken({ id, active: true })
          await api.caller()
        }
      } finally {
        isOver = true
        await Promise.all(readers)
      }
    })
  })

  describe('of another organization', () => {
    it('are as unknown as those that do not exist', async () => {
      const stranger = await harness.register()
      const { id } = await create(owner.api)
      const answers = (id: string) =>
        Promise.all(
          [
            stranger.api.tokens.getToken({ id }),
            stranger.api.tokens.updateToken({ id, active: false }),
            stranger.api.tokens.deleteToken({ id }),
          ].map(call =>
            call.then(
              () => 'done',
              ({ code, status, body }) => JSON.stringify({ code, status, body }),
            ),
          ),
        )
      assert.deepEqual(await answers(String(id)), await answers('f'.repeat(24)))
      assert.equal((await stranger.api.tokens.listTokens({ list: { filter: `{"_id":"${id}"}` } })).totalDocs, 0)
      assert.equal((await owner.api.tokens.getToken({ id: String(id) })).active, true)
    })
  })
})
