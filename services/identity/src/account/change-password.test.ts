import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { type Harness, PASSWORD, type Person, startHarness } from '../../test/identity.ts'

const NEW_PASSWORD = 'another horse'

describe('a new password', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const mailTo = ({ email }: Person, purpose: string) =>
    eventually(`a mail: ${purpose}`, async () =>
      harness.mails.find(mail => mail.to === email && mail.purpose === purpose),
    )
  const reset = async (person: Person) => {
    await harness.public.authentication.forgotPassword({ email: person.email })
    const token = /token=(\w+)/.exec((await mailTo(person, 'password_reset')).text)![1]!
    await harness.public.authentication.resetPassword({ token, password: NEW_PASSWORD })
  }
  const change = ({ api }: Person) =>
    api.account.changePassword({ currentPassword: PASSWORD, newPassword: NEW_PASSWORD })

  for (const [what, setPassword] of Object.entries({ change, reset })) {
    it(`is told to the person by mail: ${what}`, async () => {
      const person = await harness.register()
      await setPassword(person)
      const { subject, text } = await mailTo(person, 'password_changed')
      assert.equal(subject, 'Your password was changed')
      assert.ok(!text.includes(NEW_PASSWORD))
    })
  }
})
