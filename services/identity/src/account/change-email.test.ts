import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createAuthenticator } from '@rollcall/testing/authenticator'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import { type Harness, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const badLink = { code: 'request.invalid_field', path: 'token' }
const NEW_PASSWORD = 'another horse'

describe('the link that changes an email address', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const changes = () => harness.db.collection<{ user: Types.ObjectId; requestedAt: Date[] }>('email_changes')
  const newEmail = () => `${unique('new')}@example.com`
  const login = (email: string, password = PASSWORD) => harness.public.authentication.login({ email, password })
  const verify = (token: string) => harness.public.authentication.verifyEmail({ token })
  const lastMailTo = (email: string) => harness.mails.findLast(({ to }) => to === email)?.text
  const tokenIn = (text: string) => /token=(\w+)/.exec(text)![1]!
  /** Requests a change and returns the token of the mailed link. */
  const linkOf = async ({ api }: Person, email = newEmail()) => {
    await api.account.changeEmail({ email, password: PASSWORD })
    return tokenIn(lastMailTo(email)!)
  }
  const resetPassword = async ({ email }: Person) => {
    await harness.public.authentication.forgotPassword({ email })
    const text = await eventually('a mail', async () => lastMailTo(email))
    await harness.public.authentication.resetPassword({ token: tokenIn(text), password: NEW_PASSWORD })
  }

  it('works although the person signs in meanwhile', async () => {
    const person = await harness.register()
    const email = newEmail()
    const token = await linkOf(person, email)
    await login(person.email)
    await verify(token)
    await login(email)
  })

  const recoveries: Record<string, (person: Person) => Promise<unknown>> = {
    'a reset of the password': resetPassword,
    'a change of the password': ({ api }) =>
      api.account.changePassword({ currentPassword: PASSWORD, newPassword: NEW_PASSWORD }),
  }
  for (const [what, recover] of Object.entries(recoveries)) {
    it(`ends with ${what}`, async () => {
      const person = await harness.register()
      const token = await linkOf(person)
      await recover(person)
      await assert.rejects(verify(token), badLink)
      await login(person.email, NEW_PASSWORD)
    })
  }

  it('is mailed five times a day', async () => {
    const person = await harness.register()
    for (let sent = 0; sent < 5; sent++) await linkOf(person)
    const email = newEmail()
    const sixth = () => person.api.account.changeEmail({ email, password: PASSWORD })
    await assert.rejects(sixth, { code: 'quota.too_many_pending', status: 429 })
    assert.equal(lastMailTo(email), undefined)
    const user = new Types.ObjectId(person.userId)
    const [first = new Date(), ...later] = (await changes().findOne({ user }))!.requestedAt
    const aDayAgo = new Date(first.getTime() - 24 * 3_600_000)
    await changes().updateOne({ user }, { $set: { requestedAt: [aDayAgo, ...later] } })
    await sixth()
    await assert.rejects(linkOf(person), { code: 'quota.too_many_pending' })
  })

  it('ends with a new second factor', async () => {
    const person = await harness.register()
    const token = await linkOf(person)
    const { secret } = await person.api.account.startTotp({})
    await person.api.account.confirmTotp({ code: createAuthenticator(String(secret)).next() })
    await assert.rejects(verify(token), badLink)
  })
})
