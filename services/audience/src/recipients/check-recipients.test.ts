import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
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

  describe('that holds recipients', () => {
    const caller = service(me.caller.organizationId)
    /** Holds an address until it is released. */
    const hold = async (email: string): Promise<string> => {
      const held = { recipients: [{ email }], isCampaign: false, holdMs: 30_000 }
      const { holdId } = await audience.recipients.checkRecipients(held, caller)
      const until = new Date(Date.now() + 600_000) // a slow machine takes longer than holds may last
      await audience.db.collection('holds').updateOne({ _id: new Types.ObjectId(holdId) }, { $set: { until } })
      return holdId!
    }
    /** Makes a change while an address is held, and returns whether it was answered before the release. */
    const answersWhileHeld = async (
      email: string,
      change: (patient: typeof me & { deadline: number }) => Promise<unknown>,
      isMade: () => Promise<boolean>,
    ) => {
      const holdId = await hold(email)
      let isAnswered = false
      const answered = change({ ...me, deadline: Date.now() + scaledTimeout(60_000) }).then(() => {
        isAnswered = true
      })
      await eventually('the change is made', isMade)
      await audience.contacts.blockContact({ id: await create(`other-${new Types.ObjectId()}@example.com`) }, me)
      const isEarly = isAnswered
      await audience.recipients.releaseRecipients({ holdId }, caller)
      await answered
      return isEarly
    }
    const isBlocked = (email: string) => async () => (await outcomes([{ email }]))[0] === 'blocked'

    it('has a block of the contact of an address wait until they are released', async () => {
      const id = await create('Held@example.com')
      const isEarly = await answersWhileHeld(
        'held@example.com',
        patient => audience.contacts.blockContact({ id }, patient),
        isBlocked('held@example.com'),
      )
      assert.equal(isEarly, false)
    })

    it('has a blocked contact that gets the address wait, too', async () => {
      const id = await create('former@example.com')
      await audience.contacts.blockContact({ id }, me)
      const isEarly = await answersWhileHeld(
        'free@example.com',
        patient => audience.contacts.updateContact({ id, email: 'free@example.com' }, patient),
        isBlocked('free@example.com'),
      )
      assert.equal(isEarly, false)
    })

    it('does not have changes wait that end no mail', async () => {
      const id = await create('named@example.com')
      const holdId = await hold('named@example.com')
      await audience.contacts.updateContact({ id, name: 'Held' }, me)
      await audience.recipients.releaseRecipients({ holdId }, caller)
    })
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
