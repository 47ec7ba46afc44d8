import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash } from '@node-rs/argon2'
import { anonymousCaller } from '@rollcall/rpc'
import { PASSWORD_COST } from '@rollcall/testing/password-cost'
import { type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const wrong = { code: 'sign_in.wrong_password', status: 401, message: 'Wrong email or password.' }
const HIDDEN = /hash|emailKey|roleId/i

describe('authentication', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness({ SESSION_HOURS: '48' })
  })
  after(() => harness.stop())

  const login = (request: { email: string; password?: string; orgId?: string }) =>
    harness.public.authentication.login({ password: PASSWORD, ...request })
  const editUser = (person: Person, set: object) =>
    harness.db.collection('users').updateOne({ emailKey: person.email }, { $set: set })

  describe('register', () => {
    it('makes an organization and its owner, and signs the owner in', async () => {
      const email = `${unique('New')}@Example.com`
      const request = { name: 'Contact One', email, password: PASSWORD, organization: 'First Works' }
      const { token, expiresAt, user, organization, ...rest } = await harness.public.authentication.register(request)
      assert.deepEqual(rest, {})
      assert.equal(organization!.name, 'First Works')
      assert.equal(user!.email, email)
      assert.equal(user!.role, 'owner')
      assert.equal(user!.id, user!._id)
      assert.ok(user!.createdAt && user!.updatedAt && user!.lastLoginAt)
      assert.doesNotMatch(JSON.stringify(user), HIDDEN)
      const hours = (Date.parse(String(expiresAt)) - Date.now()) / 3_600_000
      assert.ok(hours > 47.9 && hours <= 48, `${hours} hours`)
      const caller = await harness.with(String(token)).caller()
      assert.equal(caller.organizationId, organization!.id)
      assert.equal(caller.role, 'owner')
      assert.equal(caller.permissions, '*')
    })

    it('names the organization after the person where no name is given', async () => {
      const email = `${unique('new')}@example.com`
      const { organization } = await harness.public.authentication.register({
        name: 'Contact Two',
        email,
        password: PASSWORD,
      })
      assert.equal(organization!.name, 'Contact Two')
    })

    it('takes an email that has an account elsewhere: it is another account', async () => {
      const { email, organizationId } = await harness.register()
      const { organization } = await harness.public.authentication.register({
        name: 'X',
        email,
        password: 'another password',
      })
      assert.notEqual(organization!.id, organizationId)
    })
  })

  describe('login', () => {
    it('answers a session, the user and nothing else, whatever the case of the email', async () => {
      const person = await harness.register()
      const { token, expiresAt, user, ...rest } = await login({ email: person.email.toUpperCase() })
      assert.deepEqual(rest, {})
      assert.ok(Date.parse(String(expiresAt)) > Date.now())
      assert.equal(user!.id, person.userId)
      assert.ok(Date.now() - Date.parse(String(user!.lastLoginAt)) < 10_000)
      assert.doesNotMatch(JSON.stringify(user), HIDDEN)
      assert.notEqual((await harness.with(String(token)).caller()).sessionId, (await person.api.caller()).sessionId)
    })

    it('puts the claims that were agreed on into the JWT', async () => {
      const person = await harness.register()
      const { token, expiresAt } = await login({ email: person.email })
      const { iat, exp, sid, ...claims } = JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString())
      assert.deepEqual(claims, {
        sub: person.userId,
        org: person.organizationId,
        role: 'owner',
        iss: 'rollcall',
        aud: 'rollcall',
      })
      assert.equal(exp - iat, 48 * 3600)
      assert.equal(new Date(exp * 1000).toISOString(), expiresAt)
      assert.match(sid, /^[0-9a-f]{24}$/)
    })

    it('refuses a wrong password and an unknown email alike, at the same cost', async () => {
      const { email } = await harness.register()
      const timed = async (request: { email: string; password?: string }) => {
        const startedAt = performance.now()
        await assert.rejects(login(request), wrong)
        return performance.now() - startedAt
      }
      const known: number[] = []
      const unknown: number[] = []
      for (let round = 0; round < 7; round++) {
        known.push(await timed({ email, password: 'wrong password' }))
        unknown.push(await timed({ email: `${unique('nobody')}@example.com` }))
      }
      const ratio = median(unknown) / median(known)
      assert.ok(ratio > 0.4 && ratio < 2.5, `unknown/known ${ratio}`)
    })

    it('refuses an account without a password', async () => {
      const person = await harness.register()
      await editUser(person, { passwordHash: null })
      await assert.rejects(login({ email: person.email, password: 'nobody' }), wrong)
    })

    it('wants the organization where email and password fit several accounts', async () => {
      const { email, organizationId } = await harness.register()
      const twin = await harness.public.authentication.register({ name: 'X', email, password: PASSWORD })
      await harness.db.collection('users').updateMany({ emailKey: email }, { $set: { emailVerified: true } })
      await assert.rejects(login({ email }), { status: 400, message: 'missing field -> orgId', path: 'orgId' })
      for (const orgId of [organizationId, String(twin.organization!.id)]) {
        const { token } = await login({ email, orgId })
        assert.equal((await harness.with(String(token)).caller()).organizationId, orgId)
      }
      await assert.rejects(login({ email, orgId: 'f'.repeat(24) }), wrong)
    })

    it('does not require it if the password identifies the account', async () => {
      const { email, organizationId } = await harness.register()
      await harness.public.authentication.register({ name: 'X', email, password: 'another password' })
      const { token } = await login({ email })
      assert.equal((await harness.with(String(token)).caller()).organizationId, organizationId)
    })

    it('reports a blocked account, but only with its password', async () => {
      const person = await harness.register()
      await editUser(person, { blocked: true })
      await assert.rejects(login({ email: person.email }), { status: 403, message: 'Account is blocked.' })
      await assert.rejects(login({ email: person.email, password: 'wrong password' }), wrong)
    })

    it('keeps where the session comes from', async () => {
      const { email } = await harness.register()
      const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
      const caller = { ...anonymousCaller(), ip: '192.0.2.7', userAgent }
      const { data } = await harness
        .client('rollcall.identity.v1.Authentication')
        .login({ email, password: PASSWORD }, { caller })
      const { sessionId } = await harness.with(JSON.parse(data.toString()).token).caller()
      const sessions = await harness.db.collection('sessions').find({ ip: '192.0.2.7' }).toArray()
      assert.deepEqual(
        sessions.map(({ _id }) => String(_id)),
        [sessionId],
      )
      assert.equal(sessions[0]!.userAgent, userAgent)
      assert.equal(sessions[0]!.device.name, 'Firefox on Linux')
    })

    it('stores a stronger hash where the parameters have risen', async () => {
      const person = await harness.register()
      const { memoryCost, timeCost } = PASSWORD_COST
      const weaker = await hash(PASSWORD, { ...PASSWORD_COST, memoryCost: memoryCost / 2 })
      await editUser(person, { passwordHash: weaker })
      const outcomes = await Promise.all(Array.from({ length: 4 }, () => login({ email: person.email })))
      assert.equal(outcomes.length, 4)
      const stored = async () =>
        (await harness.db.collection('users').findOne({ emailKey: person.email }))!.passwordHash
      for (const deadline = Date.now() + 5_000; (await stored()) === weaker; await sleep(5))
        assert.ok(Date.now() < deadline, 'not rehashed')
      assert.ok((await stored()).includes(`m=${memoryCost},t=${timeCost}`))
      await login({ email: person.email })
    })

    it('takes text for text: operators in it do nothing', async () => {
      for (const email of ['{"$ne":null}', '.*', '$where', '\u0000']) await assert.rejects(login({ email }), wrong)
    })
  })

  describe('logout', () => {
    it('ends the session at once, and no other', async () => {
      const person = await harness.register()
      const other = harness.with(String((await login({ email: person.email })).token))
      await other.caller()
      assert.deepEqual(await person.api.authentication.logout({}), { success: true, message: 'signed out' })
      await assert.rejects(person.api.caller(), { status: 401, message: 'Invalid or expired session.' })
      assert.equal((await other.caller()).userId, person.userId)
    })

    it('is not for tokens', async () => {
      const { api } = await harness.register()
      const { token } = await api.tokens.createToken({ name: 'no session' })
      await assert.rejects(harness.with(String(token)).authentication.logout({}), { status: 400 })
    })

    it('can be requested twice concurrently', async () => {
      const { api } = await harness.register()
      const caller = await api.caller()
      const logout = () => harness.client('rollcall.identity.v1.Authentication').logout({}, { caller })
      for (const answer of await Promise.all([logout(), logout()])) assert.equal(answer.success, true)
    })
  })

  describe('me', () => {
    it('is the person of a session', async () => {
      const { api, userId, organizationId } = await harness.register()
      const me = await api.authentication.getMe({})
      assert.deepEqual(Object.keys(me), ['kind', 'user', 'organization', 'role', 'permissions', 'mfa'])
      assert.deepEqual([me.kind, me.role, me.permissions], ['session', 'owner', ['*']])
      assert.deepEqual([me.user!.id, me.organization!.id], [userId, organizationId])
      assert.doesNotMatch(JSON.stringify(me), HIDDEN)
    })

    it('is the creator of a token, with what the token may do', async () => {
      const { api, userId } = await harness.register()
      await api.roles.saveRole({ name: 'links', kind: 'api', permissions: { links: ['read', 'create'] } })
      const { token, id } = await api.tokens.createToken({ name: 'mine', role: 'links' })
      const me: Json = await harness.with(String(token)).authentication.getMe({})
      assert.deepEqual([me.kind, me.role, me.permissions], ['token', 'links', ['links.create', 'links.read']])
      assert.deepEqual(me.token, { _id: id, id, name: 'mine' })
      assert.equal(me.user!.id, userId)
    })

    it('needs a credential', () => assert.rejects(harness.public.authentication.getMe({}), { status: 401 }))
  })
})

describe('authentication where registration is closed', () => {
  it('refuses to register', async () => {
    const harness = await startHarness({ REGISTRATION: 'closed' })
    const request = { name: 'X', email: 'x@example.com', password: PASSWORD }
    const refused = assert.rejects(harness.public.authentication.register(request), {
      status: 403,
      message: 'Registration is closed.',
    })
    await refused.finally(harness.stop)
  })
})

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
