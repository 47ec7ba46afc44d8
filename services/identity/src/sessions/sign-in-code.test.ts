import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecretHashers } from '@rollcall/credentials'
import { type Harness, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const wrong = { code: 'sign_in.wrong_code', status: 401, message: 'Wrong email or code.' }

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
  const verifyBound = (email: string, code: string, requestId: string) =>
    harness.public.authentication.verifyOtp({ email, code, requestId })
  const addressOf = (email: string) => createSecretHashers(harness.config.TOKEN_KEY)['sign-in-address'].hash(email)
  const codesOf = (email: string) =>
    harness.db
      .collection('sign_in_codes')
      .find({ address: addressOf(email) })
      .toArray()
  const edit = (email: string, set: object) =>
    harness.db.collection('sign_in_codes').updateMany({ address: addressOf(email) }, { $set: set })
  const budgets = () => harness.db.collection<{ _id: string }>('sign_in_code_budgets')
  /** Moves the codes of an address into the past. */
  const passHours = async (email: string, hours: number) => {
    const budget = await budgets().findOne({ _id: addressOf(email) })
    const { requestedAt, triedAt } = budget as unknown as Record<string, Date[]>
    const earlier = (times: Date[]) => times.map(at => new Date(at.getTime() - hours * 3_600_000))
    const set = { requestedAt: earlier(requestedAt!), triedAt: earlier(triedAt!) }
    await budgets().updateOne({ _id: addressOf(email) }, { $set: set })
  }
  const editUser = ({ email }: Person, set: object) =>
    harness.db.collection('users').updateOne({ emailKey: email }, { $set: set })
  const mailsTo = (email: string) => harness.mails.filter(({ to }) => to === email)

  /** Requests a code and waits for its mail. */
  const mailed = async (email: string, orgId?: string, ask: () => Promise<unknown> = () => request(email, orgId)) => {
    const before = mailsTo(email).length
    await ask()
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

  it('revokes what a stranger who registered the address has given out', async () => {
    const { email, api } = await harness.register()
    const { id } = await api.workspaces.createWorkspace({ name: 'Workspace' })
    const invited = { id: String(id), email: `${unique('invited')}@example.com`, role: 'user' }
    const { acceptUrl } = await api.invitations.createInvitation(invited)
    const { token } = await api.tokens.createToken({ name: 'kept' })
    await editUser({ email } as Person, { emailVerified: false })
    await verify(email, await mailed(email))
    await assert.rejects(harness.with(String(token)).caller(), { status: 401 })
    const secret = String(acceptUrl).split('/').at(-1)!
    await assert.rejects(harness.public.invitations.previewInvitation({ token: secret }), {
      code: 'invitation.not_found',
    })
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
    const [stored] = await codesOf(email)
    const minutes = (stored!.expiresAt.getTime() - Date.now()) / 60_000
    assert.ok(minutes > 9.9 && minutes <= 10, `${minutes} minutes`)
    await edit(email, { expiresAt: new Date(Date.now() - 1) })
    await assert.rejects(verify(email, code), wrong)
  })

  it('belongs to its request, of which several may be open', async () => {
    const { email } = await harness.register()
    const requests: { code: string; requestId: string }[] = []
    for (let sent = 0; sent < 3; sent++) {
      let requestId = ''
      const code = await mailed(email, undefined, async () => {
        requestId = String((await request(email)).requestId)
      })
      requests.push({ code, requestId })
    }
    const [first, second, third] = requests as [(typeof requests)[0], (typeof requests)[0], (typeof requests)[0]]
    assert.deepEqual(new Set(requests.map(({ requestId }) => requestId)).size, 3)
    await assert.rejects(verify(email, first.code), { status: 400, path: 'requestId' })
    if (first.code !== second.code) await assert.rejects(verifyBound(email, first.code, second.requestId), wrong)
    for (const { code, requestId } of [first, third, second]) await verifyBound(email, code, requestId)
    await assert.rejects(verifyBound(email, first.code, first.requestId), wrong)
  })

  it('is not for another address', async () => {
    const [{ email }, other] = [await harness.register(), await harness.register()]
    let requestId = ''
    const code = await mailed(email, undefined, async () => {
      requestId = String((await request(email)).requestId)
    })
    await assert.rejects(verifyBound(other.email, code, requestId), wrong)
    await verifyBound(email, code, requestId)
  })

  it('is stored as a hash that only the server can make', async () => {
    const { email } = await harness.register()
    const code = await mailed(email)
    const stored = JSON.stringify(await codesOf(email))
    assert.ok(!stored.includes(code) && !stored.includes(email))
    assert.match(JSON.parse(stored)[0].hash, /^test:[\w-]{43}$/)
  })

  it('answers alike whether or not there is an account, and mails only where there is', async () => {
    const { email } = await harness.register()
    const nobody = `${unique('nobody')}@example.com`
    for (const address of [nobody, email]) {
      const { requestId, ...rest } = await request(address)
      assert.deepEqual(rest, { success: true, message: 'sent, if there is such an account' })
      assert.match(String(requestId), /^\w{60}$/)
    }
    await mailed(email)
    assert.deepEqual(mailsTo(nobody), [])
    assert.equal((await codesOf(nobody)).length, 1)
    await assert.rejects(verify(nobody, '123456'), wrong)
    await assert.rejects(verify(`${unique('never')}@example.com`, '123456'), wrong)
  })

  it('wants the organization where the email has several accounts, once the code is right', async () => {
    const { email, organizationId } = await harness.register()
    const twin = await harness.public.authentication.register({ name: 'X', email, password: PASSWORD })
    await harness.db.collection('users').updateMany({ emailKey: email }, { $set: { emailVerified: true } })
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
    const twin = await harness.public.authentication.register({ name: 'X', email, password: PASSWORD })
    const code = await mailed(email, organizationId)
    await assert.rejects(verify(email, code, String(twin.organization!.id)), wrong)
    const { token } = await verify(email, code)
    assert.equal((await harness.with(String(token)).caller()).organizationId, organizationId)
  })

  it('reports a blocked account, but only with the code', async () => {
    const person = await harness.register()
    const code = await mailed(person.email)
    await editUser(person, { blocked: true })
    await assert.rejects(verify(person.email, other(code)), wrong)
    await assert.rejects(verify(person.email, code), { status: 403, message: 'Account is blocked.' })
  })

  it('is sent five times an hour and twenty times a day', async () => {
    const { email } = await harness.register()
    for (let hour = 0; hour < 4; hour++) {
      for (let sent = 0; sent < 5; sent++) await mailed(email)
      await request(email)
      await passHours(email, 1)
    }
    await request(email)
    await mailed((await harness.register()).email)
    assert.equal(mailsTo(email).length, 20)
    await passHours(email, 21)
    await mailed(email)
  })

  it('admits thirty wrong guesses a day, from all requesters together', async () => {
    const { email } = await harness.register()
    const next = async () => {
      let requestId = ''
      const code = await mailed(email, undefined, async () => {
        requestId = String((await request(email)).requestId)
      })
      return { code, requestId }
    }
    for (let round = 0; round < 6; round++) {
      const { code, requestId } = await next()
      for (let by = 1; by <= 5; by++) await assert.rejects(verifyBound(email, other(code, by), requestId), wrong)
      if (round === 4) await passHours(email, 1)
    }
    const { code, requestId } = await next()
    await assert.rejects(verifyBound(email, code, requestId), wrong)
    await passHours(email, 24)
    await verifyBound(email, code, requestId)
  })

  it('is not refused because of guesses for requests that do not exist', async () => {
    const { email } = await harness.register()
    for (let guess = 0; guess < 30; guess++)
      await assert.rejects(verifyBound(email, '123456', `invented${guess}`), wrong)
    let requestId = ''
    const code = await mailed(email, undefined, async () => {
      requestId = String((await request(email)).requestId)
    })
    await verifyBound(email, code, requestId)
  })
})
