import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { topics } from '@rollcall/bus'
import type { Caller } from '@rollcall/rpc'
import { createLogger, type Event, pause } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'
import { collections } from '../collections.ts'
import { onEmailEvents } from './on-email-events.ts'

type Me = { caller: Caller }
type Contact = { id: string; emailStatus: string }
type Email = { subject: string; status: string; sentAt: string | null; error: string | null } & Record<string, unknown>

const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z'] as const

describe('emails of a contact', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const newContact = (me: Me, email: string) =>
    jsonOf<Contact>(audience.contacts.createContact({ email, tags: [] }, me))
  const get = (me: Me, id: string) => jsonOf<Contact>(audience.contacts.getContact({ id }, me))
  const emails = (me: Me, id: string, list: object = {}) =>
    streamedJsonOf<Page<Email>>(audience.contacts.listEmails({ id, list }, me))
  const mailEvent = ({ caller: { organizationId } }: Me, status: string, data: Record<string, unknown>): Event => {
    const rest = { kind: 'transactional', subject: 'Hello', sender: 'news@example.com', at: times[0], ...data }
    const subject = String(data.emailId)
    const time = rest.at
    return {
      id: randomUUID(),
      type: `email.${status}`,
      source: 'messaging',
      subject,
      organization: organizationId,
      time,
      data: rest,
    }
  }
  /** Publishes events and waits until all are consumed. */
  const publish = async (...events: Event[]) => {
    const ids = events.map(({ id }) => `audience.on-email-events:${id}` as never)
    await audience.publish(topics.messaging, events)
    await eventually(
      'all events are consumed',
      async () => (await audience.db.collection('inbox').countDocuments({ _id: { $in: ids } })) === new Set(ids).size,
    )
  }

  it('are those sent to it by id or to its address, each in one line that only moves on', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'One@example.com')
    const byId = { emailId: 'm1', to: 'former@example.com', contactId: id }
    const byAddress = { emailId: 'm2', to: 'one@EXAMPLE.com', at: times[1] }
    const sent = mailEvent(me, 'sent', { ...byId, at: times[2] })
    await publish(mailEvent(me, 'queued', byId), sent, sent, mailEvent(me, 'queued', byAddress))
    await publish(
      mailEvent(me, 'queued', { ...byId, at: times[2] }),
      mailEvent(me, 'failed', { ...byAddress, error: 'no route' }),
    )
    const { docs, totalDocs } = await emails(me, id)
    assert.equal(totalDocs, 2)
    assert.deepEqual(
      docs.map(({ _id, id, ...rest }) => rest),
      [
        {
          contact: id,
          to: 'one@EXAMPLE.com',
          subject: 'Hello',
          sender: 'news@example.com',
          status: 'failed',
          at: times[1],
          sentAt: null,
          error: 'no route',
        },
        {
          contact: id,
          to: 'former@example.com',
          subject: 'Hello',
          sender: 'news@example.com',
          status: 'sent',
          at: times[0],
          sentAt: times[2],
          error: null,
        },
      ],
    )
    const filtered = await emails(me, id, { filter: '{"status":"sent"}' })
    assert.equal(filtered.totalDocs, 1)
    const timeline = audience.contacts.listTimeline(
      { id, list: { filter: '{"type":{"$in":["email.sent","email.failed"]}}' } },
      me,
    )
    assert.equal((await streamedJsonOf<Page<object>>(timeline)).totalDocs, 2)
  })

  it('are sent once another attempt succeeds', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const email = { emailId: 'm1', to: 'one@example.com' }
    const failed = mailEvent(me, 'failed', { ...email, at: times[1], error: 'no route' })
    await publish(mailEvent(me, 'queued', email), failed)
    await publish(mailEvent(me, 'sent', { ...email, at: times[2] }))
    const { docs } = await emails(me, id)
    assert.deepEqual(
      docs.map(({ status, error, sentAt }) => [status, error, sentAt]),
      [['sent', null, times[2]]],
    )
  })

  it('leave nothing of a contact that is deleted meanwhile', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const logger = createLogger({ service: 'audience', level: 'silent' })
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    const { apply } = onEmailEvents({ store, logger, collections: collections(store) })
    const event = mailEvent(me, 'failed', { emailId: 'm1', to: 'one@example.com', contactId: id }) // changes no status
    let deletion: Promise<unknown> | undefined
    await store.transaction(async tx => {
      await apply([event as never], { organization: event.organization, tx })
      deletion ??= audience.contacts.deleteContact({ id }, me)
      await Promise.race([deletion, pause(500)])
    })
    await deletion
    const person = new Types.ObjectId(id)
    assert.equal(await audience.db.collection('emails').countDocuments({ contact: person }), 0)
    assert.equal(await audience.db.collection('history').countDocuments({ person }), 0)
    await store.close()
  })

  it('are recorded together as one by one', async () => {
    const logger = createLogger({ service: 'audience', level: 'silent' })
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    const { apply } = onEmailEvents({ store, logger, collections: collections(store) })
    const recorded = async (most: number) => {
      const me = testCaller()
      const people = [await newContact(me, 'one@example.com'), await newContact(me, 'two@example.com')]
      const of = (person: number, status: string, emailId: string, at: number, to = ['one', 'two'][person]) =>
        mailEvent(me, status, { emailId, to: `${to}@example.com`, at: times[at], ...(at > 0 && { error: '550' }) })
      const events = [
        of(0, 'queued', 'm1', 0),
        of(1, 'sent', 'm2', 1),
        of(0, 'sent', 'm1', 1),
        of(0, 'bounced', 'm3', 2),
        of(0, 'delivered', 'm1', 1),
        of(1, 'bounced', 'm4', 0),
        of(1, 'complained', 'm2', 2),
        of(1, 'opened', 'm2', 1),
        of(0, 'sent', 'm5', 2),
        of(0, 'sent', 'm6', 2, 'nobody'),
      ]
      for (let at = 0; at < events.length; at += most) {
        const some = events.slice(at, at + most) as never[]
        await store.transaction(tx => apply(some, { organization: me.caller.organizationId, tx }))
      }
      return Promise.all(
        people.map(async ({ id }) => {
          const { emailStatus } = await get(me, id)
          const { docs } = await emails(me, id)
          const entries = await audience.db
            .collection('history')
            .find({ person: new Types.ObjectId(id) })
            .toArray()
          const logged = entries.map(({ type, at, data }) => [type, type.startsWith('contact.') || at, data.changes])
          const shown = docs.map(({ _id, id, contact, ...email }) => email)
          const sorted = (values: unknown[]) => values.map(value => JSON.stringify(value)).sort()
          return { emailStatus, shown: sorted(shown), logged: sorted(logged) }
        }),
      )
    }
    const oneByOne = await recorded(1)
    assert.deepEqual(
      oneByOne.map(({ emailStatus, shown, logged }) => [emailStatus, shown.length, logged.length]),
      [
        ['ok', 3, 5],
        ['complained', 2, 6],
      ],
    )
    assert.deepEqual(await recorded(10), oneByOne)
    assert.deepEqual(await recorded(3), oneByOne)
    await store.close()
  })

  it('that bounced mark the address, as long as it is the contact’s', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const bounce = { emailId: 'm1', to: 'old@example.com', contactId: id, error: '550 no such user' }
    await publish(mailEvent(me, 'bounced', bounce))
    assert.equal((await get(me, id)).emailStatus, 'unknown')
    await publish(mailEvent(me, 'bounced', { ...bounce, emailId: 'm2', to: 'one@example.com' }))
    assert.equal((await get(me, id)).emailStatus, 'bounced')
    const [last] = await audience.db.collection('outbox').find({ 'event.subject': id }).sort({ _id: -1 }).toArray()
    assert.deepEqual([last?.event.type, last?.event.data.changed], ['contact.updated', ['emailStatus']])
    await audience.contacts.updateContact({ id, email: 'new@example.com' }, me)
    assert.equal((await get(me, id)).emailStatus, 'unknown', 'nothing is known of another address')
  })

  it('set the state of the address by the latest event, in any order of delivery', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const stateAfter = async (status: string, at: string) => {
      await publish(
        mailEvent(me, status, { emailId: randomUUID(), to: 'one@example.com', at, error: 'no such mailbox' }),
      )
      return (await get(me, id)).emailStatus
    }
    assert.equal(await stateAfter('queued', times[0]), 'unknown')
    assert.equal(await stateAfter('failed', times[0]), 'unknown', 'a failure does not concern the address')
    assert.equal(await stateAfter('sent', times[0]), 'ok')
    assert.equal(await stateAfter('bounced', times[1]), 'bounced')
    assert.equal(await stateAfter('sent', times[0]), 'bounced', 'it is older')
    assert.equal(await stateAfter('sent', times[2]), 'ok')
    const history = audience.contacts.listAttributesHistory({ id, list: { sort: '{"at":1}' } }, me)
    assert.deepEqual(
      (await streamedJsonOf<Page<Email>>(history)).docs.map(({ key, from, to, type }) => [key, from, to, type]),
      [
        ['emailStatus', 'unknown', 'ok', 'email.sent'],
        ['emailStatus', 'ok', 'bounced', 'email.bounced'],
        ['emailStatus', 'bounced', 'ok', 'email.sent'],
      ],
    )
  })

  it('opened and clicked are activities of the contact', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const email = { emailId: 'm1', to: 'one@example.com', contactId: id }
    const url = 'https://shop.example.com/'
    await publish(mailEvent(me, 'sent', email), mailEvent(me, 'opened', { ...email, at: times[1] }))
    await publish(mailEvent(me, 'clicked', { ...email, url, at: times[2] }))
    const activities = await streamedJsonOf<Page<Email>>(audience.contacts.listActivities({ id, list: {} }, me))
    assert.deepEqual(
      activities.docs.map(({ type, data }) => [type, (data as { url?: string }).url]),
      [
        ['email.clicked', url],
        ['email.opened', undefined],
      ],
    )
    assert.equal((await emails(me, id)).docs[0]?.status, 'clicked')
  })

  it('complained of opt the contact out, once', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const complaint = mailEvent(me, 'complained', { emailId: 'm1', to: 'one@example.com', error: 'abuse' })
    await publish(complaint, complaint)
    const contact = (await get(me, id)) as Contact & { unsubscribed: boolean }
    assert.deepEqual([contact.emailStatus, contact.unsubscribed], ['complained', true])
    const entries = await audience.db.collection('outbox').find({ 'event.subject': id }).toArray()
    const outs = entries.flatMap(({ event }) => event).filter(({ type }) => type === 'contact.unsubscribed')
    assert.deepEqual(
      outs.map(({ data }) => [data.how, data.emailId]),
      [['complaint', 'm1']],
    )
  })

  it('forget the state of an address when its suppression is lifted', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'One@example.com')
    await publish(mailEvent(me, 'bounced', { emailId: 'm1', to: 'one@example.com', error: '550 no such user' }))
    assert.equal((await get(me, id)).emailStatus, 'bounced')
    const suppression = { id: 's1', email: 'one@EXAMPLE.com', kind: 'hard_bounce', reason: '550', message: null }
    const at = { firstAt: times[0], lastAt: times[0], createdAt: times[0], updatedAt: times[0] }
    const data = {
      suppression: { _id: 's1', ...suppression, ...at, count: 1 },
      actor: { kind: 'user', id: 'u1', name: 'U' },
    }
    const lifted = { ...mailEvent(me, 'bounced', {}), type: 'suppression.deleted', subject: 's1', data }
    await audience.publish(topics.messaging, [lifted])
    await eventually('the state is unknown', async () => (await get(me, id)).emailStatus === 'unknown')
    const entries = await streamedJsonOf<Page<Email>>(audience.contacts.listAttributesHistory({ id, list: {} }, me))
    const [{ key, from, to, actor }] = entries.docs as [Email]
    assert.deepEqual([key, from, to, actor], ['emailStatus', 'bounced', 'unknown', data.actor])
  })

  it('are none of an account’s, whatever its address', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const mail = { to: 'one@example.com', error: '550 no such user' }
    const userId = String(new Types.ObjectId())
    await publish(
      mailEvent(me, 'bounced', { ...mail, emailId: 'm1', kind: 'account', userId }),
      mailEvent(me, 'bounced', { ...mail, emailId: 'm2', kind: 'account' }),
      mailEvent(me, 'bounced', { ...mail, emailId: 'm3', kind: undefined }),
      mailEvent(me, 'bounced', { ...mail, emailId: 'm4', userId }),
    )
    assert.equal((await emails(me, id)).totalDocs, 0)
    assert.equal((await get(me, id)).emailStatus, 'unknown')
    await publish(mailEvent(me, 'sent', { ...mail, emailId: 'm5', kind: 'account', userId, contactId: id }))
    assert.equal((await emails(me, id)).totalDocs, 0, 'not even if it names the contact')
  })

  it('of other organizations and of nobody are not kept', async () => {
    const [me, other] = [testCaller(), testCaller()]
    const { id } = await newContact(me, 'one@example.com')
    await publish(
      mailEvent(other, 'sent', { emailId: 'm1', to: 'one@example.com', contactId: id }),
      mailEvent(me, 'sent', { emailId: 'm2', to: 'nobody@example.com', contactId: String(new Types.ObjectId()) }),
      mailEvent(me, 'sent', { emailId: 'm3', to: 'nobody@example.com', contactId: 'x' }),
    )
    assert.equal((await emails(me, id)).totalDocs, 0)
    await assert.rejects(emails(other, id), { code: 'contact.not_found' })
  })

  it('go with the contact', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    await publish(mailEvent(me, 'sent', { emailId: 'm1', to: 'one@example.com' }))
    await audience.contacts.deleteContact({ id }, me)
    assert.equal(await audience.db.collection('emails').countDocuments({ contact: new Types.ObjectId(id) }), 0)
  })
})
