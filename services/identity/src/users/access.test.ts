import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const updated = { success: true, message: 'updated' }
const ownAccount = { code: 'account.own', status: 409, message: 'not possible for your own account' }
const higherRank = { code: 'account.higher_rank', status: 403, message: 'The account has a higher rank: owner' }
const lastOwner = {
  code: 'organization.last_owner',
  status: 409,
  message: 'not allowed for the last owner of the organization',
}
const blocked = { status: 403, message: 'Account is blocked.' }
const ended = { status: 401, message: 'Invalid or expired session.' }

describe('access of users', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  const add = (role: string, { organizationId } = owner) => harness.addPerson(organizationId, role)
  const saveRole = async (permissions: Record<string, unknown>, kind: 'api' | 'user' = 'user', person = owner) => {
    const role = { name: unique('role'), kind, permissions }
    return String((await person.api.roles.saveRole(role)).name)
  }
  const personWith = async (permissions: Record<string, unknown>) => add(await saveRole(permissions))
  const tokenOf = async ({ api }: Person, role?: string) => {
    const { id, token } = await api.tokens.createToken({ name: 'token', ...(role && { role }) })
    return { id: String(id), api: harness.with(String(token)) }
  }
  const get = (id: string) => owner.api.users.getUser({ id })
  const members = async (name: string, { api } = owner) => {
    const { docs } = await api.roles.listRoles({ list: { filter: JSON.stringify({ name }) } })
    return Number((docs as unknown as Json[])[0]!.memberCount)
  }
  const eventsOf = async (id: string) => {
    const about = { 'event.subject': id }
    const entries = await harness.db.collection('outbox').find(about).sort({ at: 1, _id: 1 }).toArray()
    return entries.map(({ event }) => JSON.parse(JSON.stringify(event)) as Json)
  }
  const login = ({ email }: Person) => harness.public.authentication.login({ email, password: PASSWORD })

  const changeRole = (person: Person, role: string, by = owner) => by.api.users.changeRole({ id: person.userId, role })
  const block = ({ userId: id }: Person, by = owner) => by.api.users.blockUser({ id })
  const unblock = ({ userId: id }: Person, by = owner) => by.api.users.unblockUser({ id })
  const remove = ({ userId: id }: Person, by = owner) => by.api.users.deleteUser({ id })

  describe('change-role', () => {
    it('holds from the next request on, for sessions and for tokens without a role', async () => {
      const person = await add('admin')
      const token = await tokenOf(person)
      assert.deepEqual([(await person.api.caller()).permissions, (await token.api.caller()).permissions], ['*', '*'])
      const role = await saveRole({ links: ['read'] })
      assert.deepEqual(await changeRole(person, role), updated)
      for (const api of [person.api, token.api]) {
        const caller = await api.caller()
        assert.deepEqual([caller.role, caller.permissions], [role, ['links.read']])
      }
      assert.equal((await get(person.userId)).role, role)
    })

    it('lowers tokens that were made with a higher role', async () => {
      const person = await add('admin')
      const token = await tokenOf(person, 'admin')
      await changeRole(person, 'user')
      assert.equal((await token.api.caller()).role, 'user')
    })

    it('counts the members of both roles', async () => {
      const person = await add('admin')
      const role = await saveRole({ links: ['read'] })
      const admins = await members('admin')
      await changeRole(person, role)
      assert.deepEqual([await members('admin'), await members(role)], [admins - 1, 1])
      await changeRole(person, role)
      assert.equal(await members(role), 1)
    })

    it('publishes one event', async () => {
      const person = await add('admin')
      await changeRole(person, 'user')
      await changeRole(person, 'user')
      const events = await eventsOf(person.userId)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['user.role_changed'],
      )
      const actor = { kind: 'user', id: owner.userId, name: 'Owner' }
      assert.deepEqual(events[0]!.data, { userId: person.userId, from: 'admin', to: 'user', actor })
    })

    it('refuses a role that does not exist or is for tokens', async () => {
      const person = await add('user')
      for (const role of ['nobody', 'Admin', await saveRole({}, 'api')])
        await assert.rejects(changeRole(person, role), {
          status: 400,
          message: `Unknown role: ${role}`,
          path: 'role',
        })
    })

    it('refuses to give more than one has, also to oneself, and to deal with who has more', async () => {
      const manager = await personWith({ users: ['update'], links: ['read'] })
      const person = await add('user')
      const wider = await saveRole({ links: ['read', 'delete'], users: ['update'] })
      const within = await saveRole({ links: ['read'] })
      const excess = { status: 403, message: 'Role exceeds your permissions: links.delete' }
      for (const whom of [await personWith({ links: ['read'] }), manager])
        await assert.rejects(changeRole(whom, wider, manager), excess)
      await assert.rejects(changeRole(person, within, manager), { status: 403, message: /^Role exceeds/ })
      await assert.rejects(changeRole(owner, within, manager), higherRank)
      const token = await tokenOf(owner, await saveRole({ users: ['update'] }, 'api'))
      await assert.rejects(changeRole(person, wider, { ...owner, api: token.api }), { status: 403 })
    })

    it('says nothing of roles to who may not change the user', async () => {
      const manager = await personWith({ users: ['update'] })
      await assert.rejects(changeRole(owner, 'no-such-role', manager), higherRank)
      await assert.rejects(changeRole(manager, 'no-such-role'), { code: 'role.unknown' })
    })

    it('lets only owners make owners', async () => {
      const admin = await add('admin')
      const message = 'Only an owner may make another owner.'
      await assert.rejects(changeRole(admin, 'owner', admin), { status: 403, message })
      assert.deepEqual(await changeRole(admin, 'owner'), updated)
      await changeRole(admin, 'admin')
    })

    it('never takes the last owner, leaving all as it was', async () => {
      await assert.rejects(changeRole(owner, 'admin'), lastOwner)
      assert.equal((await owner.api.caller()).role, 'owner')
      assert.equal(await members('owner'), 1)
    })

    it('does not count an owner who is blocked', async () => {
      const second = await add('owner')
      await block(second)
      await assert.rejects(changeRole(owner, 'admin'), lastOwner)
      await remove(second)
    })

    it('needs the permission', async () => {
      const person = await personWith({ users: ['read', 'create', 'delete'] })
      const message = 'Permission denied: users.update'
      await assert.rejects(changeRole(owner, 'user', person), { status: 403, message })
    })
  })

  describe('block', () => {
    it('ends every session at once and refuses sign-in and tokens', async () => {
      const person = await add('admin')
      const other = harness.with(String((await login(person)).token))
      const token = await tokenOf(person)
      for (const api of [person.api, other, token.api]) await api.caller()
      assert.deepEqual(await block(person), updated)
      for (const api of [person.api, other, token.api]) await assert.rejects(api.caller(), blocked)
      await assert.rejects(login(person), blocked)
      const { blocked: isBlocked, blockedAt } = await get(person.userId)
      assert.equal(isBlocked, true)
      assert.ok(Date.now() - Date.parse(String(blockedAt)) < 60_000)
    })

    it('of a token with a role of its own holds as well', async () => {
      const person = await add('admin')
      const { api } = await tokenOf(person, await saveRole({ links: ['read'] }, 'api'))
      await api.caller()
      await block(person)
      await assert.rejects(api.caller(), blocked)
    })

    it('is undone by unblock: tokens work again, sessions have ended', async () => {
      const person = await add('admin')
      const token = await tokenOf(person)
      await block(person)
      assert.deepEqual(await unblock(person), updated)
      await assert.rejects(person.api.caller(), ended)
      assert.equal((await token.api.caller()).userId, person.userId)
      const { token: credential, user } = await login(person)
      assert.deepEqual([user!.blocked, user!.blockedAt], [false, null])
      assert.equal((await harness.with(String(credential)).caller()).userId, person.userId)
    })

    it('and unblock can be repeated, with one event', async () => {
      const person = await add('user')
      const { sessionId } = await person.api.caller()
      await block(person)
      const { blockedAt } = await get(person.userId)
      assert.deepEqual(await block(person), updated)
      assert.equal((await get(person.userId)).blockedAt, blockedAt)
      for (const _ of [1, 2]) assert.deepEqual(await unblock(person), updated)
      const events = await eventsOf(person.userId)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['user.blocked', 'user.unblocked'],
      )
      const actor = { kind: 'user', id: owner.userId, name: 'Owner' }
      assert.deepEqual(events[0]!.data, { userId: person.userId, actor })
      const [, end] = await eventsOf(sessionId!)
      assert.deepEqual([end!.type, end!.data!.userId, end!.data!.actor], ['session.ended', person.userId, actor])
    })

    it('is not for oneself, nor by a token of one’s own', async () => {
      const second = await add('owner')
      for (const api of [second.api, (await tokenOf(second)).api])
        await assert.rejects(block(second, { ...second, api }), ownAccount)
      await remove(second)
    })

    it('is not for an owner by an admin, even the last one', async () => {
      await assert.rejects(block(owner, await add('admin')), higherRank)
      assert.equal((await owner.api.caller()).userId, owner.userId)
    })

    it('refuses to deal with who has more', async () => {
      const manager = await personWith({ users: ['update', 'delete'] })
      const person = await add('user')
      for (const act of [block, unblock, remove])
        await assert.rejects(act(person, manager), { status: 403, message: /^Role exceeds your permissions: / })
    })
  })

  describe('delete', () => {
    it('answers the record, and the account is gone at once', async () => {
      const person = await add('admin')
      const record = await get(person.userId)
      const admins = await members('admin')
      assert.deepEqual(await remove(person), record)
      await assert.rejects(get(person.userId), { status: 404, message: 'user not found' })
      await assert.rejects(remove(person), { status: 404, message: 'user not found' })
      await assert.rejects(person.api.caller(), ended)
      await assert.rejects(login(person), { status: 401, message: 'Wrong email or password.' })
      assert.equal(await members('admin'), admins - 1)
      const [event] = await eventsOf(person.userId)
      assert.deepEqual([event!.type, event!.data!.user], ['user.deleted', record])
    })

    it('refuses the tokens of the person at once, and keeps them in the list', async () => {
      const person = await add('admin')
      const tokens = [await tokenOf(person), await tokenOf(person, await saveRole({ links: ['read'] }, 'api'))]
      for (const { api } of tokens) await api.caller()
      await remove(person)
      for (const { api, id } of tokens) {
        await assert.rejects(api.caller(), { status: 401, message: 'Token creator user not found.' })
        assert.equal((await owner.api.tokens.getToken({ id })).status, 'creator-missing')
      }
    })

    it('frees the email and the role', async () => {
      const role = await saveRole({ links: ['read'] })
      const person = await add(role)
      await remove(person)
      await owner.api.users.createUser({ name: 'Again', email: person.email, password: PASSWORD })
      const { docs } = await owner.api.roles.listRoles({ list: { filter: JSON.stringify({ name: role }) } })
      await owner.api.roles.deleteRole({ id: String((docs as unknown as Json[])[0]!.id) })
    })

    it('is not for oneself, nor for an owner by an admin', async () => {
      await assert.rejects(remove(owner), ownAccount)
      await assert.rejects(remove(owner, await add('admin')), higherRank)
    })

    it('happens once, however many ask', async () => {
      const person = await add('user')
      const users = await members('user')
      const attempts = await Promise.allSettled([1, 2, 3].map(() => remove(person)))
      assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal(await members('user'), users - 1)
      assert.equal((await eventsOf(person.userId)).length, 1)
    })
  })

  describe('two owners at once', () => {
    for (const [what, act] of [
      ['demoting', (whom: Person, by: Person) => changeRole(whom, 'user', by)],
      ['blocking', block],
      ['deleting', remove],
    ] as const) {
      it(`${what} each other leave one`, async () => {
        for (let round = 0; round < 5; round++) {
          const one = await harness.register()
          const other = await add('owner', one)
          // Both requests pass the guard before either has an effect.
          const callers = await Promise.all([one.api.caller(), other.api.caller()])
          assert.deepEqual([callers[0].role, callers[1].role], ['owner', 'owner'])
          await Promise.allSettled([act(other, one), act(one, other)])
          const owners = await harness.db
            .collection('users')
            .find({ role: 'owner', blocked: false, email: { $in: [one.email, other.email] } })
            .toArray()
          assert.equal(owners.length, 1)
          const counted = await harness.db
            .collection('roles')
            .findOne({ organization: owners[0]!.organization, name: 'owner' })
          assert.equal(counted!.memberCount, what === 'blocking' ? 2 : 1)
        }
      })
    }

    it('demoting themselves leave one', async () => {
      const one = await harness.register()
      const others = [await add('owner', one), await add('owner', one)]
      const all = [one, ...others]
      const attempts = await Promise.allSettled(all.map(person => changeRole(person, 'admin', person)))
      assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 2)
      assert.equal(await members('owner', one), 1)
    })
  })

  describe('of another organization', () => {
    it('is as unknown as that of nobody', async () => {
      const stranger = await harness.register()
      const person = await add('user')
      const answers = (whom: Person) =>
        Promise.all(
          [
            changeRole(whom, 'user', stranger),
            block(whom, stranger),
            unblock(whom, stranger),
            remove(whom, stranger),
          ].map(call =>
            call.then(
              () => 'done',
              ({ code, status, body }) => JSON.stringify({ code, status, body }),
            ),
          ),
        )
      const refusals = await answers(person)
      assert.deepEqual(refusals, await answers({ ...person, userId: 'f'.repeat(24) }))
      for (const refusal of refusals) assert.match(refusal, /user not found/)
      assert.equal((await person.api.caller()).userId, person.userId)
    })
  })
})
