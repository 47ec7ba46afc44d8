import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash } from '@node-rs/argon2'
import { createSecrets, parseKeyRing } from '@rollcall/credentials'
import { createLogger } from '@rollcall/runtime'
import { rotateSecrets } from '@rollcall/service'
import { createAuthenticator } from '@rollcall/testing/authenticator'
import { eventually } from '@rollcall/testing/eventually'
import { PASSWORD_COST } from '@rollcall/testing/password-cost'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import mongoose from 'mongoose'
import { type Harness, type Json, PASSWORD, type Person, startHarness } from '../../test/identity.ts'
import { collections } from '../collections.ts'
import { secretHolders } from '../secret-holders.ts'

const wrongCode = { code: 'sign_in.wrong_second_factor', status: 401 }
const expired = { code: 'sign_in.expired', status: 401 }
const wrongPassword = { code: 'sign_in.wrong_password', status: 401 }
const invalid = (path: string) => ({ code: 'request.invalid_field', status: 400, details: { path } })

/** A person with a second factor. */
type Secured = Person & { secret: string; recoveryCodes: string[]; code(): string }

describe('the second factor', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const users = () => harness.db.collection('users')
  const userOf = ({ userId }: Person) => users().findOne({ _id: new mongoose.Types.ObjectId(userId) })
  const edit = ({ userId }: Person, set: object) =>
    users().updateOne({ _id: new mongoose.Types.ObjectId(userId) }, { $set: set })
  const mfaOf = async ({ api }: Person) => (await api.account.getAccount({})).mfa
  const secure = async (given?: Person): Promise<Secured> => {
    const person = given ?? (await harness.register())
    const { secret } = await person.api.account.startTotp({})
    const { next: code } = createAuthenticator(String(secret))
    const { recoveryCodes } = await person.api.account.confirmTotp({ code: code() })
    return { ...person, secret: String(secret), recoveryCodes: recoveryCodes as unknown as string[], code }
  }
  const login = ({ email }: Person, password = PASSWORD) => harness.public.authentication.login({ email, password })
  const outdatedHash = (password: string) =>
    hash(password, { ...PASSWORD_COST, memoryCost: PASSWORD_COST.memoryCost / 2 })
  const openSignIn = async (person: Person) => String((await login(person)).mfaToken)
  const complete = (mfaToken: string, code: string) => harness.public.authentication.verifyMfa({ mfaToken, code })
  const eventsOf = async ({ userId }: Person, type: string): Promise<Json[]> => {
    const found = await harness.db.collection('outbox').find({ 'event.type': type }).toArray()
    return found.flatMap(({ event }) => event).flatMap(({ data }) => (data.userId === userId ? [data] : []))
  }
  const limitOf = (_id: string) =>
    harness.db.collection<{ _id: string; failures: number }>('sign_in_limits').findOne({ _id })
  /** Waits for a mail with a purpose and a text, and returns its text. */
  const mailTo = ({ email }: Person, purpose: string, part = '') =>
    eventually(
      `a mail: ${part || purpose}`,
      async () =>
        harness.mails.find(mail => mail.to === email && mail.purpose === purpose && mail.text.includes(part))?.text,
    )
  const noticeTo = (person: Person, part: string) => mailTo(person, 'second_factor_changed', part)
  const mailedCode = async ({ email }: Person) => {
    const mails = () => harness.mails.filter(({ to, purpose }) => to === email && purpose === 'sign_in_code')
    const before = mails().length
    const { requestId } = await harness.public.authentication.requestOtp({ email })
    for (const deadline = Date.now() + scaledTimeout(5_000); mails().length === before; await sleep(5))
      assert.ok(Date.now() < deadline, 'no mail')
    return { email, code: /^(\d{6}) is/m.exec(mails().at(-1)!.text)![1]!, requestId: String(requestId) }
  }

  describe('setting it up', () => {
    it('takes effect with a code of the new secret, and ends the other sessions', async () => {
      const person = await harness.register()
      const other = harness.with(String((await login(person)).token))
      assert.deepEqual(await mfaOf(person), { totp: false, recoveryCodesLeft: 0, required: false })
      const { secret, uri } = await person.api.account.startTotp({})
      assert.match(String(uri), /^otpauth:\/\/totp\/Owner:owner-/)
      assert.equal(new URL(String(uri)).searchParams.get('secret'), secret)
      assert.equal(((await login(person)) as Json).mfaRequired, undefined)
      assert.deepEqual(await mfaOf(person), { totp: false, recoveryCodesLeft: 0, required: false })
      const { recoveryCodes } = await person.api.account.confirmTotp({
        code: createAuthenticator(String(secret)).next(),
      })
      assert.equal((recoveryCodes as unknown as string[]).length, 10)
      assert.deepEqual(await mfaOf(person), { totp: true, recoveryCodesLeft: 10, required: false })
      await assert.rejects(other.account.getAccount({}), { code: 'session.invalid' })
      assert.equal((await eventsOf(person, 'user.second_factor_enabled')).length, 1)
    })

    it('refuses a wrong code, a secret that was replaced or is 15 minutes old, and a second one', async () => {
      const person = await harness.register()
      const { account } = person.api
      await assert.rejects(account.confirmTotp({ code: '000000' }), { code: 'second_factor.not_started', status: 409 })
      const replaced = createAuthenticator(String((await account.startTotp({})).secret))
      const { next } = createAuthenticator(String((await account.startTotp({})).secret))
      await assert.rejects(account.confirmTotp({ code: replaced.next() }), invalid('code'))
      await assert.rejects(account.confirmTotp({ code: 'abc' }), invalid('code'))
      await edit(person, { 'totp.startedAt': new Date(Date.now() - 15 * 60_000 - 1) })
      await assert.rejects(account.confirmTotp({ code: next() }), { code: 'second_factor.not_started' })
      await secure(person)
      await assert.rejects(account.startTotp({}), { code: 'second_factor.on', status: 409 })
      await assert.rejects(account.confirmTotp({ code: next() }), { code: 'second_factor.on', status: 409 })
    })

    it('stores neither the secret nor a recovery code, and rotates the key of the secret', async () => {
      const person = await secure()
      const before = await userOf(person)
      const stored = JSON.stringify(before)
      assert.ok(!stored.includes(person.secret))
      for (const code of person.recoveryCodes)
        assert.ok(!stored.includes(code) && !stored.includes(code.replaceAll('-', '')))
      const [[name, key] = ['', undefined]] = harness.config.SECRET_KEYS
      const old = `${name}:${key!.export().toString('base64')}`
      const rotating = createSecrets(parseKeyRing(`fresh:${randomBytes(32).toString('base64')},${old}`))
      const connection = await mongoose
        .createConnection(harness.config.MONGODB_URL, { dbName: harness.config.MONGODB_DATABASE })
        .asPromise()
      const logger = createLogger({ service: 'test', level: 'fatal' })
      await rotateSecrets(secretHolders(collections(connection).unscoped), rotating, logger)
      assert.equal((await userOf(person))!.totp.secret.key, 'fresh')
      await edit(person, { 'totp.secret': before!.totp.secret })
      await connection.close()
    })
  })

  describe('signing in', () => {
    it('asks for it instead of beginning a session, and begins one with the next code', async () => {
      const person = await secure()
      const { mfaToken, ...answer } = await login(person)
      assert.deepEqual(answer, { mfaRequired: true, methods: ['totp', 'recovery_code'] })
      assert.ok(
        !JSON.stringify(await harness.db.collection('pending_sign_ins').find().toArray()).includes(String(mfaToken)),
      )
      const { token, user, expiresAt, ...rest } = await complete(String(mfaToken), person.code())
      assert.deepEqual(rest, {})
      assert.equal(user!.email, person.email)
      assert.ok(Date.parse(String(expiresAt)) > Date.now())
      assert.equal((await harness.with(String(token)).caller()).userId, person.userId)
    })

    it('takes a code once: not the one that turned it on, nor one again, nor an earlier one', async () => {
      const person = await harness.register()
      const { secret } = await person.api.account.startTotp({})
      const { next } = createAuthenticator(String(secret))
      const [first, second] = [next(), next()]
      await person.api.account.confirmTotp({ code: first })
      await assert.rejects(complete(await openSignIn(person), first), wrongCode)
      await complete(await openSignIn(person), second)
      await assert.rejects(complete(await openSignIn(person), second), wrongCode)
      await assert.rejects(complete(await openSignIn(person), first), wrongCode)
    })

    it('takes each recovery code once, however it is typed', async () => {
      const person = await secure()
      const [code = '', other = ''] = person.recoveryCodes
      await complete(await openSignIn(person), code.toUpperCase().replaceAll('-', ' '))
      await assert.rejects(complete(await openSignIn(person), code), wrongCode)
      const { token } = await complete(await openSignIn(person), other)
      const me = await harness.with(String(token)).account.getAccount({})
      assert.deepEqual(me.mfa, { totp: true, recoveryCodesLeft: 8, required: false })
    })

    it('lets exactly one of many tries with the same code in, in one sign-in and in several', async () => {
      for (const codeOf of [(person: Secured) => person.code(), (person: Secured) => person.recoveryCodes[0]!]) {
        const person = await secure()
        const [one, other] = [await openSignIn(person), await openSignIn(person)]
        const code = codeOf(person)
        const tries = await Promise.allSettled([one, one, other, other].map(mfaToken => complete(mfaToken, code)))
        assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
        for (const failed of tries.filter(each => each.status === 'rejected'))
          assert.equal((failed.reason as { status: number }).status, 401)
      }
    })

    it('has five tries, also at once, and five minutes', async () => {
      const person = await secure()
      const mfaToken = await openSignIn(person)
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => complete(mfaToken, 'wrong')))
      const codes = tries.map(each => (each.status === 'rejected' ? (each.reason as { code: string }).code : ''))
      assert.deepEqual(
        [wrongCode.code, expired.code].map(code => codes.filter(each => each === code).length),
        [5, 3],
      )
      await assert.rejects(complete(mfaToken, person.code()), expired)
      const late = await openSignIn(person)
      const past = { $set: { expiresAt: new Date(Date.now() - 1) } }
      await harness.db.collection('pending_sign_ins').updateMany({ user: (await userOf(person))!._id }, past)
      await assert.rejects(complete(late, person.code()), expired)
      await assert.rejects(complete('unknown', person.code()), expired)
    })

    it('ends with a change of the password, and refuses a blocked account', async () => {
      const person = await secure()
      const mfaToken = await openSignIn(person)
      await person.api.account.changePassword({ currentPassword: PASSWORD, newPassword: 'another horse' })
      await assert.rejects(complete(mfaToken, person.code()), expired)
      const again = String((await login(person, 'another horse')).mfaToken)
      await edit(person, { blocked: true })
      await assert.rejects(complete(again, person.code()), { code: 'account.blocked', status: 403 })
    })

    it('asks for it also where the outdated hash of the password cannot be replaced', async () => {
      const person = await secure()
      // Refused as a new password.
      const common = 'password1'
      await edit(person, { passwordHash: await outdatedHash(common) })
      assert.ok((await complete(String((await login(person, common)).mfaToken), person.code())).token)
    })

    it('asks for it at several sign-ins at once that replace an outdated hash', async () => {
      const person = await secure()
      await edit(person, { passwordHash: await outdatedHash(PASSWORD) })
      const pending = await Promise.all([openSignIn(person), openSignIn(person), openSignIn(person)])
      for (const [index, mfaToken] of pending.entries())
        assert.ok((await complete(mfaToken, person.recoveryCodes[index]!)).token)
    })

    it('follows a mailed code as well, which is then used up', async () => {
      const person = await secure()
      const request = await mailedCode(person)
      const { mfaToken, mfaRequired, token } = await harness.public.authentication.verifyOtp(request)
      assert.deepEqual([mfaRequired, token], [true, undefined])
      await assert.rejects(harness.public.authentication.verifyOtp(request), { code: 'sign_in.wrong_code' })
      assert.ok((await complete(String(mfaToken), person.code())).token)
    })

    it('is not passed by by the first proof of the mailbox, which still removes the password', async () => {
      const { organizationId } = await harness.register()
      const person = await secure(await harness.addPerson(organizationId, 'user'))
      await edit(person, { emailVerified: false })
      const { mfaToken } = await harness.public.authentication.verifyOtp(await mailedCode(person))
      assert.equal((await userOf(person))!.emailVerified, false)
      await complete(String(mfaToken), person.code())
      const { emailVerified, passwordHash, totp } = (await userOf(person))!
      assert.deepEqual([emailVerified, passwordHash, totp !== null], [true, null, true])
    })

    it('that a stranger prepared by registering the address ends with the first proof of the mailbox', async () => {
      const [byCode, byReset] = [await secure(), await secure()]
      for (const person of [byCode, byReset]) await edit(person, { emailVerified: false })
      const { token } = await harness.public.authentication.verifyOtp(await mailedCode(byCode))
      assert.equal((await harness.with(String(token)).account.getAccount({})).mfa!.totp, false)
      await harness.public.authentication.forgotPassword({ email: byReset.email })
      const reset = /token=(\w+)/.exec(await mailTo(byReset, 'password_reset'))![1]!
      await harness.public.authentication.resetPassword({ token: reset, password: 'another horse' })
      const signedIn = harness.with(String((await login(byReset, 'another horse')).token))
      assert.equal((await signedIn.account.getAccount({})).mfa!.totp, false)
    })
  })

  describe('guessing it', () => {
    it('locks the account, together with passwords; a right password changes nothing', async () => {
      const person = await secure()
      for (let time = 0; time < 4; time++) await assert.rejects(login(person, 'wrong'), wrongPassword)
      const mfaToken = await openSignIn(person)
      assert.equal((await limitOf(person.userId))!.failures, 4)
      for (let time = 0; time < 5; time++) await assert.rejects(complete(mfaToken, '000000'), wrongCode)
      const last = await openSignIn(person)
      await assert.rejects(complete(last, '000000'), wrongCode)
      await assert.rejects(complete(last, person.code()), wrongCode)
      await assert.rejects(login(person), wrongPassword)
      const reasons = (await eventsOf(person, 'session.failed')).map(({ reason }) => String(reason))
      assert.deepEqual(reasons.sort(), [...Array(4).fill('password'), ...Array(6).fill('second_factor')])
    })

    it('forgets failures with a complete sign-in', async () => {
      const person = await secure()
      const mfaToken = await openSignIn(person)
      await assert.rejects(complete(mfaToken, '000000'), wrongCode)
      await complete(mfaToken, person.code())
      assert.equal(await limitOf(person.userId), null)
      assert.equal(await limitOf(`${person.userId} second factor`), null)
    })

    it('by others’ passwords does not lock out the holder of the mailed code', async () => {
      const person = await secure()
      for (let time = 0; time < 10; time++) await assert.rejects(login(person, 'wrong'), wrongPassword)
      const { mfaToken } = await harness.public.authentication.verifyOtp(await mailedCode(person))
      for (let time = 0; time < 2; time++) await assert.rejects(complete(String(mfaToken), '000000'), wrongCode)
      assert.ok((await complete(String(mfaToken), person.code())).token)
      assert.ok((await login(person)).mfaToken)
    })
  })

  describe('turning it off', () => {
    it('needs the password and a code, of the app or for recovery', async () => {
      const person = await secure()
      const { account } = person.api
      const remove = (password: string, code: string) => account.removeTotp({ password, code })
      await assert.rejects(remove('wrong', person.recoveryCodes[0]!), invalid('password'))
      await assert.rejects(remove(PASSWORD, '000000'), invalid('code'))
      assert.equal((await limitOf(person.userId))!.failures, 2)
      await remove(PASSWORD, person.recoveryCodes[0]!)
      assert.equal(await limitOf(person.userId), null)
      assert.deepEqual(await mfaOf(person), { totp: false, recoveryCodesLeft: 0, required: false })
      assert.ok((await login(person)).token)
      await assert.rejects(remove(PASSWORD, '000000'), { code: 'second_factor.off', status: 409 })
      assert.equal((await eventsOf(person, 'user.second_factor_disabled')).length, 1)
      const again = await secure(person)
      await account.removeTotp({ password: PASSWORD, code: again.code() })
    })

    it('is refused while the organization requires it', async () => {
      const person = await secure()
      await person.api.settings.updateSettings({ requireMfa: true })
      const request = { password: PASSWORD, code: person.recoveryCodes[0]! }
      await assert.rejects(person.api.account.removeTotp(request), { code: 'second_factor.required', status: 403 })
      assert.deepEqual(await mfaOf(person), { totp: true, recoveryCodesLeft: 10, required: true })
    })
  })

  describe('new recovery codes', () => {
    it('replace the old ones, for the password and a code, which is used up', async () => {
      const person = await secure()
      const { account } = person.api
      const [spent = '', old = ''] = person.recoveryCodes
      await assert.rejects(account.renewRecoveryCodes({ password: 'wrong', code: spent }), invalid('password'))
      await assert.rejects(account.renewRecoveryCodes({ password: PASSWORD, code: '000000' }), invalid('code'))
      assert.equal((await limitOf(person.userId))!.failures, 2)
      const answer = await account.renewRecoveryCodes({ password: PASSWORD, code: spent })
      const fresh = answer.recoveryCodes as unknown as string[]
      assert.equal(new Set([...fresh, ...person.recoveryCodes]).size, 20)
      assert.deepEqual(await mfaOf(person), { totp: true, recoveryCodesLeft: 10, required: false })
      for (const code of [spent, old]) await assert.rejects(complete(await openSignIn(person), code), wrongCode)
      assert.ok((await complete(await openSignIn(person), fresh[0]!)).token)
      const code = person.code()
      await account.renewRecoveryCodes({ password: PASSWORD, code })
      await assert.rejects(account.renewRecoveryCodes({ password: PASSWORD, code }), invalid('code'))
      assert.equal((await eventsOf(person, 'user.recovery_codes_renewed')).length, 2)
      await noticeTo(person, 'recovery codes of your account were replaced')
    })

    it('need a second factor', async () => {
      const { api } = await harness.register()
      const request = { password: PASSWORD, code: '000000' }
      await assert.rejects(api.account.renewRecoveryCodes(request), { code: 'second_factor.off', status: 409 })
    })
  })

  describe('resetting that of another', () => {
    it('ends the sessions, tells the person, and lets the password alone sign in', async () => {
      const owner = await harness.register()
      const { users: accounts } = owner.api
      const person = await secure(await harness.addPerson(owner.organizationId, 'user'))
      const mfaToken = await openSignIn(person)
      assert.ok((await accounts.getUser({ id: person.userId })).secondFactorAt)
      await accounts.resetUserTotp({ id: person.userId })
      await assert.rejects(person.api.account.getAccount({}), { code: 'session.invalid' })
      await assert.rejects(complete(mfaToken, person.code()), { status: 401 })
      assert.ok((await login(person)).token)
      assert.equal((await accounts.getUser({ id: person.userId })).secondFactorAt, null)
      const list = { filter: JSON.stringify({ secondFactorAt: { $ne: null } }) }
      assert.equal((await accounts.listUsers({ list })).totalDocs, 0)
      const [event] = await eventsOf(person, 'user.second_factor_reset')
      assert.equal(event?.actor?.id, owner.userId)
      await noticeTo(person, 'an administrator of your organization turned off the second factor')
      await assert.rejects(accounts.resetUserTotp({ id: person.userId }), { code: 'second_factor.off', status: 409 })
    })

    it('is refused for oneself and those above one', async () => {
      const owner = await harness.register()
      const permissions = { users: ['read', 'delete'] }
      await owner.api.roles.saveRole({ name: 'support', kind: 'user', permissions })
      const add = (role: string) => harness.addPerson(owner.organizationId, role)
      const [admin, support, person] = [await add('admin'), await add('support'), await add('user')]
      for (const each of [owner, admin, person]) await secure(each)
      const reset = (by: Person, { userId }: Person) => by.api.users.resetUserTotp({ id: userId })
      await assert.rejects(reset(owner, owner), { code: 'account.own' })
      await assert.rejects(reset(admin, owner), { code: 'account.higher_rank', status: 403 })
      await assert.rejects(reset(support, admin), { code: 'account.higher_rank', status: 403 })
      await assert.rejects(reset(support, person), { code: 'role.exceeds_permissions', status: 403 })
      await assert.rejects(reset(await harness.register(), person), { code: 'user.not_found', status: 404 })
      assert.equal((await mfaOf(owner))?.totp, true)
    })
  })

  it('tells the person by mail when it is set up and turned off', async () => {
    const person = await secure()
    await noticeTo(person, 'a second factor was set up')
    await person.api.account.removeTotp({ password: PASSWORD, code: person.code() })
    await noticeTo(person, 'second factor of your account was turned off')
  })

  it('survives a password reset', async () => {
    const person = await secure()
    await harness.public.authentication.forgotPassword({ email: person.email })
    const token = /token=(\w+)/.exec(await mailTo(person, 'password_reset'))![1]!
    await harness.public.authentication.resetPassword({ token, password: 'another horse' })
    assert.equal((await login(person, 'another horse')).mfaRequired, true)
  })
})
