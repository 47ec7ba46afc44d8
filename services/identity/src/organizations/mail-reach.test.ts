import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Harness, PASSWORD, startHarness, unique } from '../../test/identity.ts'

describe('the mail reach of an organization that is not verified', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const newEmail = (what: string) => `${unique(what)}@example.com`
  const unverified = { code: 'organization.unverified', status: 403 }
  const registerUnverified = async () => {
    const email = newEmail('owner')
    const { token } = await harness.public.authentication.register({ name: 'Owner', email, password: PASSWORD })
    return { email, api: harness.with(String(token)) }
  }

  it('has no owners that it made itself', async () => {
    const { api } = await registerUnverified()
    const email = newEmail('victim')
    await api.users.createUser({ name: 'Victim', email, password: PASSWORD, role: 'owner' })
    const { id } = await api.workspaces.createWorkspace({ name: 'Workspace' })
    const invite = api.invitations.createInvitation({ id: String(id), email, role: 'user' })
    await assert.rejects(invite, unverified)
    assert.deepEqual(
      harness.mails.filter(({ to }) => to === email),
      [],
    )
  })

  it('has no new addresses of users, except that its registered owner may correct a mistyped one', async () => {
    const { api, email } = await registerUnverified()
    const member = newEmail('member')
    await api.users.createUser({ name: 'Member', email: member, password: PASSWORD })
    const { token } = await harness.public.authentication.login({ email: member, password: PASSWORD })
    const change = (by: typeof api, to: string) => by.account.changeEmail({ email: to, password: PASSWORD })
    await assert.rejects(change(harness.with(String(token)), newEmail('foreign')), unverified)
    const corrected = newEmail('corrected')
    await change(api, corrected)
    const { text } = harness.mails.find(({ to }) => to === corrected)!
    assert.ok(!text.includes(email), 'the old address would become a link')
  })
})
