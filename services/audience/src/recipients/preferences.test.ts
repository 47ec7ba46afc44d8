import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'

type Entry = { type: string; actor: object; data: Record<string, unknown> }

describe('preferences of recipients', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const recipient = { kind: 'system', id: null, name: 'recipient' }
  const by = (organizationId: string) => ({ caller: serviceCaller('messaging', organizationId) })
  /** Creates a contact on two lists. */
  const start = async () => {
    const me = testCaller()
    const { organizationId } = me.caller
    const lists = audience.client('rollcall.audience.v1.Lists')
    const { id } = await jsonOf<{ id: string }>(
      audience.contacts.createContact({ email: 'One@example.com', tags: [] }, me),
    )
    const [offers, news, other] = (await Promise.all(
      ['Offers', 'News', 'Other'].map(
        async name => (await jsonOf<{ id: string }>(lists.createList({ name, tags: [] }, me))).id,
      ),
    )) as [string, string, string]
    for (const list of [offers, news]) await lists.addMembers({ id: list, contactIds: [id], emails: [] }, me)
    return {
      me,
      id,
      offers,
      news,
      other,
      membersOf: async (list: string) =>
        await jsonOf<{ memberCount: number; activeCount: number }>(lists.getList({ id: list }, me)),
      get: async () => (await audience.recipients.getPreferences({ contactId: id }, by(organizationId))).preferences,
      change: async (request: object, contactId = id) =>
        (
          await audience.recipients.changePreferences(
            { contactId, how: 'link', emailId: 'm1', leave: [], rejoin: [], ...request },
            by(organizationId),
          )
        ).preferences,
      events: async () =>
        (await audience.db.collection('outbox').find({ 'event.subject': id }).sort({ _id: 1 }).toArray()).flatMap(
          ({ event }) => event,
        ),
      timeline: async () =>
        (await streamedJsonOf<Page<Entry>>(audience.contacts.listTimeline({ id, list: {} }, me))).docs,
    }
  }

  it('are whether it gets campaigns, and its lists by name', async () => {
    const { get, offers, news } = await start()
    assert.deepEqual(await get(), {
      email: 'One@example.com',
      unsubscribed: false,
      lists: [
        { id: news, name: 'News' },
        { id: offers, name: 'Offers' },
      ],
    })
  })

  it('opt out once, with history and one event that says how', async () => {
    const { change, events, timeline, id, offers, membersOf } = await start()
    for (let times = 0; times < 2; times++)
      assert.equal((await change({ unsubscribed: true, how: 'one_click' }))?.unsubscribed, true)
    const outs = (await events()).filter(({ type }) => type === 'contact.unsubscribed')
    assert.deepEqual(
      outs.map(({ data }) => data),
      [{ contactId: id, how: 'one_click', emailId: 'm1', actor: recipient }],
    )
    const [entry] = await timeline()
    assert.deepEqual([entry?.type, entry?.actor, entry?.data.how], ['contact.updated', recipient, 'one_click'])
    assert.equal((await membersOf(offers)).activeCount, 0)
  })

  it('opt in again', async () => {
    const { change, events } = await start()
    await change({ unsubscribed: true })
    assert.equal((await change({ unsubscribed: false }))?.unsubscribed, false)
    const types = (await events()).map(({ type }) => type).slice(-3)
    assert.deepEqual(types, ['contact.updated', 'contact.unsubscribed', 'contact.updated'])
  })

  it('leave lists, and join again those alone', async () => {
    const { change, news, offers, other, membersOf } = await start()
    const left = await change({ leave: [news, other, 'nonsense', String(new Types.ObjectId())], how: 'preference' })
    assert.deepEqual(
      left?.lists.map(({ name }) => name),
      ['Offers'],
    )
    assert.equal(left?.unsubscribed, false)
    assert.equal((await membersOf(news)).memberCount, 0)
    const joined = await change({ rejoin: [news, other], how: 'preference' })
    assert.deepEqual(
      joined?.lists.map(({ id }) => id),
      [news, offers],
    )
    assert.equal((await membersOf(other)).memberCount, 0)
  })

  it('publish that a user or token opted a contact out', async () => {
    const { me, id, events } = await start()
    await audience.contacts.updateContact({ id, unsubscribed: true }, me)
    const { data } = (await events()).at(-1)!
    assert.deepEqual([data.contactId, data.how], [id, 'api'])
  })

  it('are none of a contact that is gone, or of another organization', async () => {
    const { me, id, change, get } = await start()
    const other = String(new Types.ObjectId())
    assert.deepEqual(await audience.recipients.getPreferences({ contactId: id }, by(other)), {})
    const foreign = { contactId: id, how: 'link' as const, emailId: '', unsubscribed: true, leave: [], rejoin: [] }
    assert.deepEqual(await audience.recipients.changePreferences(foreign, by(other)), {})
    assert.equal((await get())?.unsubscribed, false)
    await audience.contacts.deleteContact({ id }, me)
    assert.equal(await get(), undefined)
    assert.equal(await change({ unsubscribed: true }), undefined)
    assert.equal(await change({}, 'nonsense'), undefined)
  })
})
