import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, type Harness, type Json, type Person, startHarness } from '../../test/identity.ts'

const ended = { status: 401, message: 'Invalid or expired session.' }

describe('impersonation', () => {
  let harness: Harness
  let owner: Person
  let admin: Person
  let person: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
    admin = await harness.addPerson(owner.organizationId, 'admin')
    person = await harness.addPerson(owner.organizationId, 'user')
  })
  after(() => harness.stop())

  const actAs = async (api: Api, userId: string) => {
    const { token } = await api.authentication.impersonate({ userId })
    return harness.with(String(token))
  }
  const docs = async (page: Promise<Json>) => (await page).docs as unknown as Json[]
  const sessionsOf = (id: string) =>
    docs(owner.api.users.listUserSessions({ id, list: { filter: '{"impersonatedBy":{"$ne":null}}' } }))
  const latest = async (id: string) => (await docs(owner.api.users.listUserActivities({ id })))[0]!
  const newAdmin = () => harness.addPerson(owner.organizationId, 'admin')

  it('is a session of the user, read-only, for half an hour, that says who acts', async () => {
    const { token, expiresAt, user, sessionRef, ...rest } = await admin.api.authentication.impersonate({
      userId: person.userId,
    })
    assert.deepEqual(rest, {})
    assert.match(String(sessionRef), /^[0-9a-f]{24}$/)
    assert.equal(user!.id, person.userId)
    const minutes = (Date.parse(String(expiresAt)) - Date.now()) / 60_000
    assert.ok(minutes > 29.9 && minutes <= 30, `${minutes} minutes`)
    const claims = JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString())
    assert.deepEqual([claims.sub, claims.act, claims.role], [person.userId, { sub: admin.userId }, 'user'])
    const api = harness.with(String(token))
    const caller = await api.caller()
    assert.deepEqual([caller.role, caller.readOnly, caller.impersonatorId], ['user', true, admin.userId])
    const me = await api.authentication.getMe({})
    assert.deepEqual([me.user!.id, me.impersonatedBy], [person.userId, admin.userId])
  })

  it('changes nothing: neither as the user, nor by impersonating again, nor by signing out', async () => {
    const api = await actAs(admin.api, person.userId)
    const readOnly = { status: 403, body: { success: false, message: 'Impersonation is read-only.' } }
    await assert.rejects(api.authentication.impersonate({ userId: person.userId }), readOnly)
    await assert.rejects(api.authentication.logout({}), readOnly)
    await assert.rejects(api.tokens.createToken({ name: 'x' }), readOnly)
  })

  it('is for owners, admins and tokens that authorize as one', async () => {
    const refused = {
      status: 403,
      message: 'Only owners and admins may impersonate a user, and only owners may impersonate an owner.',
    }
    await assert.rejects(person.api.authentication.impersonate({ userId: admin.userId }), refused)
    await admin.api.roles.saveRole({ name: 'manager', kind: 'api', permissions: { users: ['read', 'create'] } })
    const tokenOf = async (fields: { role?: string }) =>
      harness.with(String((await admin.api.tokens.createToken({ name: 'x', ...fields })).token))
    for (const fields of [{}, { role: 'admin' }]) await actAs(await tokenOf(fields), person.userId)
    for (const role of ['manager', 'user'])
      await assert.rejects((await tokenOf({ role })).authentication.impersonate({ userId: person.userId }), refused)
    await assert.rejects(harness.public.authentication.impersonate({ userId: person.userId }), { status: 401 })
  })

  it('never goes beyond oneself: an admin may not act as an owner', async () => {
    const other = await harness.addPerson(owner.organizationId, 'owner')
    await assert.rejects(admin.api.authentication.impersonate({ userId: other.userId }), { status: 403 })
    await actAs(owner.api, other.userId)
    await actAs(admin.api, (await newAdmin()).userId)
  })

  it('is refused of oneself, of a blocked user, and of one who is not there', async () => {
    const attempt = (userId: string) => admin.api.authentication.impersonate({ userId })
    await assert.rejects(attempt(admin.userId), { status: 409 })
    const blocked = await harness.addPerson(owner.organizationId, 'user')
    await owner.api.users.blockUser({ id: blocked.userId })
    await assert.rejects(attempt(blocked.userId), { status: 403, message: 'Account is blocked.' })
    const elsewhere = await harness.register()
    for (const id of ['f'.repeat(24), elsewhere.userId])
      await assert.rejects(attempt(id), { status: 404, message: 'user not found' })
  })

  it('is listed among the user’s sessions, and can be ended there', async () => {
    const other = await harness.addPerson(owner.organizationId, 'user')
    const api = await actAs(admin.api, other.userId)
    const [session, ...more] = await sessionsOf(other.userId)
    assert.deepEqual([session!.impersonatedBy, more], [admin.userId, []])
    await api.caller()
    await other.api.authentication.getMe({})
    await owner.api.users.revokeUserSession({ id: other.userId, sessionRef: String(session!.sessionRef) })
    await assert.rejects(api.caller(), ended)
    await other.api.caller()
  })

  const ends: [cause: string, end: (who: Person) => Promise<unknown>][] = [
    ['is blocked', who => owner.api.users.blockUser({ id: who.userId })],
    ['is deleted', who => owner.api.users.deleteUser({ id: who.userId })],
    ['loses the role', who => owner.api.users.changeRole({ id: who.userId, role: 'user' })],
    ['signs out', who => who.api.authentication.logout({})],
  ]
  for (const [cause, end] of ends) {
    it(`ends at once and permanently when the impersonator ${cause}`, async () => {
      const who = await newAdmin()
      const api = await actAs(who.api, person.userId)
      await api.caller()
      await end(who)
      await assert.rejects(api.caller(), ended)
      assert.ok((await sessionsOf(person.userId)).every(({ impersonatedBy }) => String(impersonatedBy) !== who.userId))
    })
  }

  it('by a token ends with it, and while it is inactive', async () => {
    const { token, id } = await admin.api.tokens.createToken({ name: 'x' })
    const api = await actAs(harness.with(String(token)), person.userId)
    await api.caller()
    await admin.api.tokens.updateToken({ id: String(id), active: false })
    await assert.rejects(api.caller(), { status: 401 })
    await admin.api.tokens.updateToken({ id: String(id), active: true })
    await api.caller()
    await admin.api.tokens.deleteToken({ id: String(id) })
    await assert.rejects(api.caller(), { status: 401 })
  })

  it('ends when the user becomes someone who acts may not act as', async () => {
    const other = await harness.addPerson(owner.organizationId, 'user')
    const api = await actAs(admin.api, other.userId)
    await api.caller()
    await owner.api.users.changeRole({ id: other.userId, role: 'owner' })
    await assert.rejects(api.caller(), ended)
  })

  it('leaves its trace in the trails of both', async () => {
    const other = await harness.addPerson(owner.organizationId, 'user')
    await actAs(admin.api, other.userId)
    for (const id of [admin.userId, other.userId]) {
      const { type, actor, data } = await latest(id)
      assert.deepEqual([type, actor!.id, data!.userId], ['session.impersonated', admin.userId, other.userId])
    }
  })
})
