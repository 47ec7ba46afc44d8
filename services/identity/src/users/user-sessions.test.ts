import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { anonymousCaller } from '@rollcall/rpc'
import { type Harness, type Json, PASSWORD, type Person, startHarness } from '../../test/identity.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const newerFirefox = FIREFOX.replaceAll('128.0', '131.0')
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1'
const ended = { status: 401, message: 'Invalid or expired session.' }

describe('sessions, devices and activities of users', () => {
  let harness: Harness
  let owner: Person
  let person: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  const add = async () => {
    person = await harness.addPerson(owner.organizationId, 'admin')
    return person
  }
  const signIn = async (userAgent: string, ip = '192.0.2.7') => {
    const caller = { ...anonymousCaller(), ip, userAgent }
    const authentication = harness.client('rollcall.identity.v1.Authentication')
    const { data } = await authentication.login({ email: person.email, password: PASSWORD }, { caller })
    return harness.with(JSON.parse(data.toString()).token)
  }
  const docs = async (page: Promise<Json>) => (await page).docs as unknown as Json[]
  const sessions = (list = {}, { api } = owner) => docs(api.users.listUserSessions({ id: person.userId, list }))
  const devices = (list = {}, { api } = owner) => docs(api.users.listUserDevices({ id: person.userId, list }))
  const activities = (list = {}, id = person.userId) => docs(owner.api.users.listUserActivities({ id, list }))
  const revokeSession = (ref: unknown, id = person.userId) =>
    owner.api.users.revokeUserSession({ id, sessionRef: String(ref) })
  const revokeDevice = (device: unknown, id = person.userId) =>
    owner.api.users.revokeUserDevice({ id, deviceId: String(device) })

  describe('sessions', () => {
    it('show where they come from, the latest first, and never the credential', async () => {
      await add()
      const api = await signIn(FIREFOX)
      const { sessionId } = await api.caller()
      const [latest, first, ...more] = await sessions()
      assert.deepEqual(more, [])
      assert.deepEqual(Object.keys(latest!), [
        '_id',
        'id',
        'sessionRef',
        'device',
        'ip',
        'userAgent',
        'lastActiveAt',
        'expiresAt',
        'current',
        'impersonatedBy',
        'createdAt',
        'updatedAt',
      ])
      const { sessionRef, device, ip, userAgent, current, impersonatedBy } = latest!
      assert.deepEqual(
        [device, ip, userAgent, current, impersonatedBy],
        ['Firefox on Linux', '192.0.2.7', FIREFOX, false, null],
      )
      assert.equal(latest!.id, sessionRef)
      assert.deepEqual([first!.device, first!.ip, first!.userAgent], ['Unknown device', null, null])
      assert.ok(!JSON.stringify(await sessions()).includes(sessionId!))
    })

    it('know the one that asks', async () => {
      await add()
      const api = await signIn(FIREFOX)
      const page = await docs(api.users.listUserSessions({ id: person.userId, list: { filter: '{"current":true}' } }))
      assert.deepEqual(
        page.map(({ device, current }) => [device, current]),
        [['Firefox on Linux', true]],
      )
    })

    it('can be filtered, sorted and paged; by nothing that is not shown', async () => {
      await add()
      await signIn(FIREFOX)
      await signIn(PHONE)
      const page = { sort: '{"device":1}', projection: '{"device":1}', limit: 2 }
      assert.deepEqual(
        (await sessions(page)).map(({ device }) => device),
        ['Firefox on Linux', 'Safari on iOS'],
      )
      for (const field of ['ref', 'user', 'organization', 'deviceId'])
        await assert.rejects(sessions({ filter: JSON.stringify({ [field]: 1 }) }), { status: 400, path: 'filter' })
    })

    it('that have expired are not shown', async () => {
      await add()
      await signIn(FIREFOX)
      const past = { $set: { expiresAt: new Date(Date.now() - 1) } }
      await harness.db.collection('sessions').updateMany({ userAgent: FIREFOX }, past)
      assert.deepEqual(
        (await sessions()).map(({ device }) => device),
        ['Unknown device'],
      )
    })

    it('note when they were active', async () => {
      await add()
      const api = await signIn(FIREFOX)
      const earlier = new Date(Date.now() - 120_000)
      await harness.db.collection('sessions').updateMany({ userAgent: FIREFOX }, { $set: { lastActiveAt: earlier } })
      await api.caller()
      const isNoted = async () => Date.parse(String((await sessions())[0]!.lastActiveAt)) > earlier.getTime()
      for (let attempt = 0; !(await isNoted()); attempt++) assert.ok(attempt < 200)
    })

    it('are revoked one by one, at once', async () => {
      await add()
      const api = await signIn(FIREFOX)
      await api.caller()
      const [latest, first] = await sessions()
      const { updatedAt: _, lastActiveAt: __, ...shown } = latest!
      const { updatedAt: ___, lastActiveAt: ____, ...revoked } = await revokeSession(latest!.sessionRef)
      assert.deepEqual(revoked, shown)
      await assert.rejects(api.caller(), ended)
      assert.equal((await person.api.caller()).userId, person.userId)
      assert.deepEqual(
        (await sessions()).map(({ sessionRef }) => sessionRef),
        [first!.sessionRef],
      )
      await assert.rejects(revokeSession(latest!.sessionRef), { status: 404, message: 'session not found' })
    })

    it('are not found by the id of the credential, nor at another user', async () => {
      await add()
      const { sessionId } = await person.api.caller()
      const [session] = await sessions()
      const unknown = { status: 404, message: 'session not found' }
      await assert.rejects(revokeSession(sessionId), unknown)
      await assert.rejects(revokeSession(session!.sessionRef, owner.userId), unknown)
      await person.api.caller()
    })
  })

  describe('devices', () => {
    it('are recognised by browser, system and kind, whatever the version', async () => {
      await add()
      await signIn(FIREFOX)
      await signIn(PHONE)
      await signIn(newerFirefox, '192.0.2.8')
      const [latest, second, ...more] = await devices({ filter: '{"type":{"$ne":"unknown"}}' })
      assert.deepEqual(more, [])
      const { _id, id, deviceId, firstSeenAt, lastSeenAt, ...rest } = latest!
      assert.deepEqual(rest, {
        name: 'Firefox on Linux',
        browser: 'Firefox 131.0',
        os: 'Linux',
        type: 'desktop',
        lastIp: '192.0.2.8',
        current: false,
      })
      assert.deepEqual([_id, deviceId], [id, id])
      assert.ok(String(firstSeenAt) < String(lastSeenAt))
      assert.deepEqual([second!.name, second!.type], ['Safari on iOS', 'mobile'])
    })

    it('are one for all programs that are not known, and forgotten a year after the last sign-in', async () => {
      await add()
      for (const program of ['invented1/1.0', 'invented2/1.0 (x) y', 'invented3']) await signIn(program)
      assert.deepEqual(
        (await devices()).map(({ name }) => name),
        ['Unknown device'],
      )
      const indexes = await harness.db.collection('devices').indexes()
      assert.ok(indexes.some(({ key, expireAfterSeconds }) => key.lastSeenAt && expireAfterSeconds === 365 * 86_400))
    })

    it('know the one that asks, and show what is not known as null', async () => {
      await add()
      const api = await signIn(FIREFOX)
      const page = await docs(api.users.listUserDevices({ id: person.userId, list: { sort: '{"name":1}' } }))
      assert.deepEqual(
        page.map(({ name, current, browser }) => [name, current, browser]),
        [
          ['Firefox on Linux', true, 'Firefox 128.0'],
          ['Unknown device', false, null],
        ],
      )
    })

    it('are revoked with all their sessions, at once', async () => {
      await add()
      const apis = [await signIn(FIREFOX), await signIn(newerFirefox)]
      for (const api of apis) await api.caller()
      const other = await signIn(PHONE)
      const [device] = await devices({ filter: '{"name":"Firefox on Linux"}' })
      assert.deepEqual(await revokeDevice(device!.deviceId), device)
      for (const api of apis) await assert.rejects(api.caller(), ended)
      assert.equal((await other.caller()).userId, person.userId)
      const unknown = { status: 404, message: 'device not found' }
      await assert.rejects(revokeDevice(device!.deviceId), unknown)
      const [phoneOfPerson] = await devices()
      await assert.rejects(revokeDevice(phoneOfPerson!.deviceId, owner.userId), unknown)
    })

    it('belong to one user each', async () => {
      await add()
      await signIn(FIREFOX)
      const [first] = await devices()
      await add()
      await signIn(FIREFOX)
      assert.notEqual((await devices())[0]!.deviceId, first!.deviceId)
    })
  })

  describe('activities', () => {
    it('are what the person did, by session and by token, the latest first', async () => {
      await add()
      await signIn(FIREFOX)
      const { id, token } = await person.api.tokens.createToken({ name: 'mine' })
      const program = harness.with(String(token))
      await program.roles.saveRole({ name: `of ${id}`, kind: 'api', permissions: {} })
      const newcomer = await program.users.createUser({ name: 'New', email: `${id}@example.com`, password: PASSWORD })
      await program.users.updateUser({ id: String(newcomer.id), name: 'Newer' })
      await person.api.users.deleteUser({ id: String(newcomer.id) })
      await person.api.authentication.logout({})
      const entries = await activities({ limit: 20 })
      const self = ['user', person.userId]
      const byToken = ['token', id]
      assert.deepEqual(
        entries.map(({ type, actor }) => [type, actor!.kind, actor!.id]),
        [
          ['session.ended', ...self],
          ['user.deleted', ...self],
          ['user.updated', ...byToken],
          ['user.created', ...byToken],
          ['role.saved', ...byToken],
          ['token.created', ...self],
          ['session.created', ...self],
          ['session.created', ...self],
        ],
      )
      assert.deepEqual(Object.keys(entries[0]!), ['_id', 'id', 'type', 'at', 'actor', 'data'])
      assert.deepEqual([entries[6]!.data!.ip, entries[6]!.data!.userAgent], ['192.0.2.7', FIREFOX])
      assert.ok(!JSON.stringify(entries).includes(String(token).split(':')[1]!))
    })

    it('are those of who acts, not of whom it is done to', async () => {
      await add()
      const { userId } = person
      await owner.api.users.blockUser({ id: userId })
      assert.deepEqual(
        (await activities()).map(({ type }) => type),
        ['session.created'],
      )
      const [latest] = await activities({}, owner.userId)
      assert.deepEqual([latest!.type, latest!.data], ['user.blocked', { userId }])
    })

    it('can be filtered', async () => {
      await add()
      await person.api.tokens.createToken({ name: 'mine' })
      const [entry, ...more] = await activities({ filter: '{"type":"token.created","actor.kind":"user"}' })
      assert.equal(entry!.data!.token!.name, 'mine')
      assert.deepEqual(more, [])
    })

    it('are written with the change or not at all', async () => {
      await add()
      const before = (await activities()).length
      const taken = { name: 'X', email: owner.email, password: PASSWORD }
      await assert.rejects(person.api.users.createUser(taken), { status: 409 })
      assert.equal((await activities()).length, before)
    })
  })

  describe('of another organization', () => {
    it('are as unknown as those of nobody', async () => {
      const { api } = await harness.register()
      await add()
      await signIn(FIREFOX)
      const [session] = await sessions()
      const [device] = await devices()
      const answers = (id: string, sessionRef: string, deviceId: string) =>
        Promise.all(
          [
            api.users.listUserSessions({ id }),
            api.users.listUserDevices({ id }),
            api.users.listUserActivities({ id }),
            api.users.revokeUserSession({ id, sessionRef }),
            api.users.revokeUserDevice({ id, deviceId }),
          ].map(call =>
            call.then(
              () => 'done',
              ({ code, status, body }) => JSON.stringify({ code, status, body }),
            ),
          ),
        )
      const unknown = 'f'.repeat(24)
      const refusals = await answers(person.userId, String(session!.sessionRef), String(device!.deviceId))
      assert.deepEqual(refusals, await answers(unknown, unknown, unknown))
      for (const refusal of refusals) assert.match(refusal, /user not found/)
      assert.equal((await sessions()).length, 2)
    })
  })
})
