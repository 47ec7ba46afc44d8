import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Harness, type Person, password, startHarness, unique } from '../harness.ts'

const wrong = { code: 'unauthenticated', status: 401, message: 'Wrong email or code.' }

describe('signing in with a code', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const request = (email: string, orgId?: string) =>
    harness.public.authentication.requestOtp({ email, ...(orgId !== undefined && { orgId }) })
  const verify = (email: string, code: string, orgId?: string) =>
    harness.public.authentication.verifyOtp({ email, code, ...(orgId !== undefined && { orgId }) })
  const codes = () => harness.db.collection<{ _id: string; expiresAt: Date }>('sign_in_codes')
  const edit = (email: string, set: object) => codes().updateOne({ _id: email }, { $set: set })
  const editUser = ({ email }: Person, set: object) =>
    harness.db.collection('users').updateOne({ emailKey: email }, { $set: set })
  const mailsTo = (email: string) => harness.mails.filter(({ to }) => to === email)

  /** Asks for a code and waits for its mail. */
  const mailed = async (email: string, orgId?: string) => {
    const before = mailsTo(email).length
    await request(email, orgId)
    const deadline = Date.now() + 5_000
    while (mailsTo(email).length === before) {
      assert.ok(Date.now() < deadline, 'no mail')
      await sleep(5)
    }
    return /^(\d{6}) is/m.exec(mailsTo(email).at(-1)!.text)![1]!
  }
  const other = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0')

  it('opens a session, and shows that the address is the account’s', async () => {
    const person = await harness.register()
    await editUser(person, { emailVerified: false })
    const { token, expiresAt, user, ...rest } = await verify(person.email.toUpperCase(), await mailed(person.email))
    assert.deepEqual(rest, {})
    assert.deepEqual([user!.id, user!.emailVerified], [person.userId, true])
    assert.ok(Date.parse(String(expiresAt)) > Date.now())
    assert.equal((await harness.with(String(token)).caller()).userId, person.userId)
  })

  it('works once, however many try at once', async () => {
    const { email } = await harness.register()
    const code = await mailed(email)
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => verify(email, code)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.equal(outcome.reason.status, 401, String(outcome.reason))
    await assert.rejects(verify(email, code), wrong)
  })

  it('takes five tries and no more, also at once', async () => {
    const { email } = await harness.register()
    const code = await mailed(email)
    for (let by = 1; by <= 4; by++) await assert.rejects(verify(email, other(code, by)), wrong)
    await verify(email, code)
    const second = await mailed(email)
    await Promise.allSettled(Array.from({ length: 8 }, (_, by) => verify(email, other(second, by + 1))))
    await assert.rejects(verify(email, second), wrong)
  })

  it('lasts ten minutes', async () => {
    const { email } = await harness.register()
    const code = await mailed(email)
    const [stored] = await codes().find({ _id: email }).toArray()
    const minutes = (stored!.expiresAt.getTime() - Date.now()) / 60_000
    assert.ok(minutes > 9.9 && minutes <= 10, `${minutes} minutes`)
    await edit(email, { expiresAt: new Date(Date.now() - 1) })
    await assert.rejects(verify(email, code), wrong)
  })

  it('is replaced by the next one', async () => {
    const { email } = await harness.register()
    const first = await mailed(email)
    const second = await mailed(email)
    if (first !== second) await assert.rejects(verify(email, first), wrong)
    await verify(email, second)
  })

  it('is stored as a hash that only the server can make', async () => {
    const { email } = await harness.register()
    const code = await mailed(email)
    const stored = JSON.stringify(await codes().findOne({ _id: email }))
    assert.ok(!stored.includes(code))
    assert.match(JSON.parse(stored).hash, /^[\w-]{43}$/)
  })

  it('answers alike whether or not there is an account, and mails only where there is', async () => {
    const { email } = await harness.register()
    const nobody = `${unique('nobody')}@example.com`
    const sent = { success: true, message: 'sent, if there is such an account' }
    assert.deepEqual([await request(nobody), await request(email)], [sent, sent])
    await mailed(email)
    assert.deepEqual(mailsTo(nobody), [])
    assert.ok(await codes().findOne({ _id: nobody }))
    await assert.rejects(verify(nobody, '123456'), wrong)
    await assert.rejects(verify(`${unique('never')}@example.com`, '123456'), wrong)
  })

  it('wants the organization where the email has several accounts, once the code is right', async () => {
    const { email, organizationId } = await harness.register()
    const twin = await harness.public.authentication.register({ name: 'X', email, password })
    const code = await mailed(email)
    await assert.rejects(verify(email, other(code)), wrong)
    for (let round = 0; round < 6; round++)
      await assert.rejects(verify(email, code), { status: 400, message: 'missing field -> orgId', path: 'orgId' })
    await assert.rejects(verify(email, code, 'f'.repeat(24)), wrong)
    const orgId = String(twin.organization!.id)
    const { token } = await verify(email, code, orgId)
    assert.equal((await harness.with(String(token)).caller()).organizationId, orgId)
    await assert.rejects(verify(email, code, organizationId), wrong)
  })

  it('is for the one organization that was named, if any was', async () => {
    const { email, organizationId } = await harness.register()
    const twin = await harness.public.authentication.register({ name: 'X', email, password })
    const code = await mailed(email, organizationId)
    await assert.rejects(verify(email, code, String(twin.organization!.id)), wrong)
    const { token } = await verify(email, code)
    assert.equal((await harness.with(String(token)).caller()).organizationId, organizationId)
  })

  it('tells a blocked account so, but only to who has the code', async () => {
    const person = await harness.register()
    const code = await mailed(person.email)
    await editUser(person, { blocked: true })
    await assert.rejects(verify(person.email, other(code)), wrong)
    await assert.rejects(verify(person.email, code), { status: 403, message: 'Account is blocked.' })
  })

  it('is sent twenty times an hour at most', async () => {
    const { email } = await harness.register()
    let last = ''
    for (let sent = 0; sent < 20; sent++) last = await mailed(email)
    await request(email)
    await verify(email, last)
    assert.equal(mailsTo(email).length, 20)
    await edit(email, { windowEndsAt: new Date(Date.now() - 1) })
    await verify(email, await mailed(email))
  })
})
