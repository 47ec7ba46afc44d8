import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { jsonOf, startTestAudience, type TestAudience, testCaller } from '../../test/audience.ts'

const nobody = String(new Types.ObjectId())

describe('taking recipients', () => {
  let audience: TestAudience
  const me = testCaller()
  const service = (organizationId: string) => ({ caller: serviceCaller('campaigns', organizationId) })
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const contact = async (email: string, rest: object = {}) =>
    (await jsonOf<{ id: string }>(audience.contacts.createContact({ email, tags: [], ...rest }, me))).id
  const list = async (name: string, contactIds: string[]) => {
    const lists = audience.client('rollcall.audience.v1.Lists')
    const { id } = await jsonOf<{ id: string }>(lists.createList({ name, tags: [] }, me))
    if (contactIds.length > 0) await lists.addMembers({ id, contactIds, emails: [] }, me)
    return id
  }
  const segment = async (name: string, filter: Record<string, unknown>) => {
    const segments = audience.client('rollcall.audience.v1.Segments')
    return (await jsonOf<{ id: string }>(segments.createSegment({ name, filter, columns: [] }, me))).id
  }
  const selection = (given: object) => ({ lists: [], segments: [], excludeLists: [], ...given })
  const take = async (given: object | undefined, rest: object = {}, organizationId = me.caller.organizationId) => {
    const request = { reachableOnly: false, afterPosition: 0, limit: 100, ...rest }
    const chosen = given && { selection: selection(given) }
    return audience.campaigns.takeRecipients({ ...request, ...chosen }, service(organizationId))
  }
  const emails = async (...given: Parameters<typeof take>) =>
    (await take(...given)).recipients.map(({ email }) => email!.split('@')[0]).join('')

  it('takes each contact once, oldest first, in pages, and none that came later', async () => {
    const [a, b, c, d, e] = [
      await contact('a@example.com', { tags: ['vip'] }),
      await contact('b@example.com'),
      await contact('c@example.com', { unsubscribed: true }),
      await contact('d@example.com', { tags: ['vip'] }),
      await contact('e@example.com'),
    ]
    await audience.contacts.blockContact({ id: e }, me)
    const one = await list('One', [d, b, a, e])
    const two = await list('Two', [c, b])
    const vip = await segment('VIP', { tags: 'vip' })
    assert.equal(await emails({ lists: [one, two], segments: [vip] }), 'abcde')
    assert.equal(await emails({ segments: [vip] }), 'ad')
    assert.equal(await emails({ lists: [two], segments: [vip] }), 'abcd')
    assert.equal(await emails({ lists: [one], segments: [vip], excludeLists: [two] }), 'ade')
    assert.equal(await emails({ lists: [one, two] }, { reachableOnly: true }), 'abd')
    assert.equal(await emails(undefined), 'abcde')
    assert.equal(await emails({}), '')
    assert.equal(await emails({ excludeLists: [one] }), '')

    const count = (given: object) =>
      audience.campaigns.countRecipients(selection(given), service(me.caller.organizationId))
    const none = { reachable: 0, excluded: 0, blocked: 0, unsubscribed: 0, address: 0 }
    assert.deepEqual(await count({ lists: [one, two], segments: [vip] }), {
      ...none,
      reachable: 3,
      blocked: 1,
      unsubscribed: 1,
    })
    assert.deepEqual(await count({ lists: [one], excludeLists: [two] }), {
      ...none,
      reachable: 2,
      excluded: 1,
      blocked: 1,
    })
    assert.deepEqual(await count({}), none)
    const contacts = audience.db.collection('contacts')
    const setStatus = (emailStatus: string) =>
      contacts.updateOne({ _id: new Types.ObjectId(a) }, { $set: { emailStatus } })
    await setStatus('bounced')
    assert.deepEqual(await count({ segments: [vip] }), { ...none, reachable: 1, address: 1 })
    await setStatus('unknown')

    const first = await take({ lists: [one, two] }, { limit: 2 })
    assert.deepEqual([first.recipients.length, first.done], [2, false])
    const later = await contact('f@example.com')
    await audience.client('rollcall.audience.v1.Lists').addMembers({ id: one, contactIds: [later], emails: [] }, me)
    const { untilPosition } = first
    const second = await take({ lists: [one, two] }, { limit: 2, afterPosition: first.lastPosition, untilPosition })
    const third = await take({ lists: [one, two] }, { limit: 2, afterPosition: second.lastPosition, untilPosition })
    assert.deepEqual(
      [second, third].flatMap(({ recipients }) => recipients.map(({ contactId }) => contactId)),
      [c, d, e],
    )
    assert.deepEqual([second.done, third.done], [false, true])
  })

  it('refuses what is unknown or outdated, with its path', async () => {
    const known = await list('Known', [])
    const other = String(new Types.ObjectId())
    const refusals = [
      [{ lists: [known, nobody] }, { code: 'list.unknown', path: 'lists.1' }],
      [{ excludeLists: [nobody] }, { code: 'list.unknown', path: 'excludeLists.0' }],
      [{ segments: [nobody] }, { code: 'segment.unknown', path: 'segments.0' }],
      [{ lists: ['no id'] }, { code: 'list.unknown', path: 'lists.0' }],
    ] as const
    for (const [given, refusal] of refusals) {
      await assert.rejects(take(given), refusal)
      await assert.rejects(
        audience.campaigns.countRecipients(selection(given), service(me.caller.organizationId)),
        refusal,
      )
      await assert.rejects(
        audience.campaigns.checkSelection(selection(given), service(me.caller.organizationId)),
        refusal,
      )
    }
    await audience.campaigns.checkSelection(selection({ lists: [known] }), service(me.caller.organizationId))
    await assert.rejects(take({ lists: [known] }, {}, other), { code: 'list.unknown', path: 'lists.0' })
    assert.equal(await emails(undefined, {}, other), '')

    const plan = { name: 'Plan', slug: 'plan', type: 'string' as const, options: [] }
    const attribute = await jsonOf<{ id: string }>(audience.attributes.createAttribute(plan, me))
    const outdated = await segment('Outdated', { 'attributes.plan': 'pro' })
    await audience.attributes.deleteAttribute({ id: attribute.id }, me)
    await assert.rejects(take({ segments: [outdated] }), { code: 'segment.outdated' })
  })
})
