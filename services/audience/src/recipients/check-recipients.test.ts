import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { jsonOf, startTestAudience, type TestAudience, testCaller } from '../../test/audience.ts'

describe('the check of recipients', () => {
  let audience: TestAudience
  const me = testCaller()
  const service = (organizationId: string) => ({ caller: serviceCaller('messaging', organizationId) })
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const create = async (email: string, rest: object = {}) =>
    (await jsonOf<{ id: string }>(audience.contacts.createContact({ email, tags: [], ...rest }, me))).id
  const check = async (recipients: object[], isCampaign = false, organizationId = me.caller.organizationId) =>
    (await audience.recipients.checkRecipients({ recipients, isCampaign }, service(organizationId))).recipients
  const outcomes = async (...given: Parameters<typeof check>) => (await check(...given)).map(({ outcome }) => outcome)

  it('answers in the order of the request, by id and by address', async () => {
    const fine = await create('Fine@Example.com', { name: 'Contact One', tags: ['new'] })
    const blocked = await create('blocked@example.com')
    const out = await create('out@example.com', { unsubscribed: true })
    await audience.contacts.blockContact({ id: blocked }, me)
    const nobody = String(new Types.ObjectId())
    const asked = [
      { contactId: nobody, email: 'fine@example.com' },
      { email: 'nobody@example.com' },
      { email: 'BLOCKED@example.com' },
      { contactId: out },
      { contactId: fine, email: 'former@example.com' },
      { contactId: 'no id' },
      {},
    ]
    const answers = await check(asked)
    assert.deepEqual(
      answers.map(({ outcome, email }) => [outcome, email]),
      [
        ['deleted', 'fine@example.com'],
        ['unknown', 'nobody@example.com'],
        ['blocked', 'blocked@example.com'],
        ['ok', 'out@example.com'],
        ['ok', 'Fine@Example.com'],
        ['deleted', ''],
        ['unknown', ''],
      ],
    )
    assert.equal(answers[4]!.contactId, fine)
    assert.deepEqual(answers[4]!.variables, {
      email: 'Fine@Example.com',
      name: 'Contact One',
      attributes: {},
      tags: ['new'],
    })
    assert.deepEqual(await outcomes([{ contactId: out }, { contactId: fine }], true), ['unsubscribed', 'ok'])
  })

  it('counts a change at once', async () => {
    const id = await create('changing@example.com')
    assert.deepEqual(await outcomes([{ contactId: id }]), ['ok'])
    await audience.contacts.blockContact({ id }, me)
    assert.deepEqual(await outcomes([{ contactId: id }]), ['blocked'])
    await audience.contacts.unblockContact({ id }, me)
    assert.deepEqual(await outcomes([{ contactId: id }]), ['ok'])
    await audience.contacts.deleteContact({ id }, me)
    assert.deepEqual(await outcomes([{ contactId: id }]), ['deleted'])
  })

  it('knows only contacts of the organization, and at most 1,000 recipients', async () => {
    const id = await create('mine@example.com')
    const other = String(new Types.ObjectId())
    assert.deepEqual(await outcomes([{ contactId: id }, { email: 'mine@example.com' }], false, other), [
      'deleted',
      'unknown',
    ])
    await assert.rejects(check(Array.from({ length: 1001 }, () => ({ email: 'a@example.com' }))), {
      code: 'request.invalid_field',
    })
  })
})
