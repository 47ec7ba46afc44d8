import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { type Bus, busSettings, createBus, topics } from '@rollcall/bus'
import { createLogger, type Event, pause } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { type Harness, type Json, type Person, startHarness, unique } from '../../test/identity.ts'
import { collections } from '../collections.ts'
import { onEmailEvents } from './on-email-events.ts'

type Step = {
  status: string
  minute?: number
  userId?: string | undefined
  to?: string
  error?: string
  id?: string
  kind?: string
}

describe('mails of users', () => {
  let harness: Harness
  let owner: Person
  let bus: Bus
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
    const logger = createLogger({ service: 'identity-test', level: 'fatal' })
    bus = createBus({ ...busSettings(harness.config), clientId: 'identity-test', logger })
  })
  after(async () => {
    await bus.close()
    await harness.stop()
  })

  const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString()
  const eventOf = (emailId: string, { status, minute = 0, id = randomUUID(), ...rest }: Step, of = owner): Event => ({
    id,
    type: `email.${status}`,
    source: 'messaging',
    subject: emailId,
    organization: of.organizationId,
    time: at(minute),
    data: {
      emailId,
      to: of.email,
      userId: of.userId,
      subject: `About ${emailId}`,
      sender: 'news@example.com',
      at: at(minute),
      ...rest,
    },
  })
  const publish = (events: Event[]) => bus.publish(topics.messaging, events)
  const mails = async (person = owner, query: object = {}) => {
    const list = { limit: 100, ...query }
    const { docs } = await owner.api.users.listUserEmails({ id: person.userId, list })
    return (docs as unknown as Json[]).map(({ _id, id, ...mail }) => mail)
  }
  /** Publishes, then waits until all earlier events are consumed, by a last mail in the same partition. */
  const consume = async (...events: Event[]) => {
    const emailIds = [...new Set(events.map(({ subject }) => subject))]
    const markers = emailIds.map(emailId => ({ ...eventOf(unique('marker'), { status: 'queued' }), subject: emailId }))
    await publish([...events, ...markers])
    const subjects = markers.map(({ data }) => String(data.subject))
    const arrived = async () => {
      const known = (await mails()).map(({ subject }) => String(subject))
      return subjects.every(subject => known.includes(subject))
    }
    for (let waitedMs = 0; !(await arrived()); waitedMs += 50) {
      assert.ok(waitedMs < scaledTimeout(20_000), 'the events are taken in')
      await pause(50)
    }
  }
  const mailOf = async (emailId: string, person = owner) => {
    const found = (await mails(person)).filter(({ subject }) => String(subject) === `About ${emailId}`)
    assert.ok(found.length <= 1, 'a mail is shown once')
    return found[0]
  }

  it('show subject, sender, status, when it was sent and why not', async () => {
    const emailId = unique('mail')
    await consume(eventOf(emailId, { status: 'queued', minute: 1 }))
    const queued = {
      subject: `About ${emailId}`,
      sender: 'news@example.com',
      status: 'queued',
      sentAt: null,
      error: null,
    }
    assert.deepEqual(await mailOf(emailId), queued)
    await consume(eventOf(emailId, { status: 'sent', minute: 2 }))
    assert.deepEqual(await mailOf(emailId), { ...queued, status: 'sent', sentAt: at(2) })
    await consume(eventOf(emailId, { status: 'bounced', minute: 3, error: '550 no such mailbox' }))
    const bounced = { ...queued, status: 'bounced', sentAt: at(2), error: '550 no such mailbox' }
    assert.deepEqual(await mailOf(emailId), bounced)
  })

  it('are gone with a user who is deleted meanwhile', async () => {
    const member = await harness.addPerson(owner.organizationId, 'user')
    const { MONGODB_URL: url, MONGODB_DATABASE: dbName } = harness.config
    const logger = createLogger({ service: 'identity-test', level: 'silent' })
    const store = await connectStore({ url, dbName, logger })
    const { on } = onEmailEvents({ collections: collections(store) })
    const event = eventOf(unique('mail'), { status: 'sent' }, member)
    let deletion: Promise<unknown> | undefined
    await store.transaction(async tx => {
      await on['email.sent']!(event.data as never, { event, tx, logger })
      deletion ??= owner.api.users.deleteUser({ id: member.userId })
      await Promise.race([deletion, pause(500)])
    })
    await deletion
    assert.equal(
      await store.connection.collection('user_emails').countDocuments({ user: new Types.ObjectId(member.userId) }),
      0,
    )
    await store.close()
  })

  it('count each event once, however often it is delivered', async () => {
    const emailId = unique('mail')
    const queued = eventOf(emailId, { status: 'queued', minute: 1 })
    const sent = eventOf(emailId, { status: 'sent', minute: 2 })
    const ofCampaign = eventOf(emailId, { status: 'sent', userId: undefined, kind: 'campaign' })
    await consume(queued, queued, sent, ofCampaign, queued, sent)
    assert.equal((await mailOf(emailId))!.status, 'sent')
    const stored = harness.db.collection('user_emails')
    assert.equal(await stored.countDocuments({ emailId }), 1)
    const inbox = harness.db.collection<{ _id: string }>('inbox')
    assert.equal(
      await inbox.countDocuments({ _id: { $in: [queued, sent, ofCampaign].map(({ id }) => `on-email-events:${id}`) } }),
      2,
      'one of a campaign costs nothing',
    )
  })

  it('only move on, in whatever order the events come', async () => {
    const steps: Step[] = [
      { status: 'queued', minute: 1 },
      { status: 'sent', minute: 2 },
      { status: 'bounced', minute: 3, error: 'refused' },
    ]
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const emailId = unique('mail')
      await consume(...order.map(step => eventOf(emailId, steps[step]!)))
      const { status, sentAt, error } = (await mailOf(emailId))!
      assert.deepEqual([status, sentAt, error], ['bounced', at(2), 'refused'], `in the order ${order}`)
    }
  })

  it('are of the user that a mail names, and of nobody by the address alone', async () => {
    const [named, addressed] = [
      await harness.addPerson(owner.organizationId, 'user'),
      await harness.addPerson(owner.organizationId, 'user'),
    ]
    const [byId, byAddress] = [unique('mail'), unique('mail')]
    await consume(
      eventOf(byId, { status: 'sent', userId: named.userId, to: addressed.email }),
      eventOf(byAddress, { status: 'sent', to: addressed.email, userId: undefined }),
    )
    assert.ok(await mailOf(byId, named))
    assert.deepEqual([(await mails(named)).length, (await mails(addressed)).length], [1, 0])
  })

  it('are of the accounts of the organization that sent them, and of no others', async () => {
    const stranger = await harness.register()
    const emailId = unique('mail')
    await consume(
      eventOf(emailId, { status: 'sent', to: stranger.email, userId: stranger.userId }),
      eventOf(unique('mail'), { status: 'sent', to: 'nobody@example.com', userId: 'no id' }),
    )
    const { totalDocs } = await stranger.api.users.listUserEmails({ id: stranger.userId })
    assert.equal(totalDocs, 0)
  })

  it('that are not as declared go to the dead letters, and later ones are consumed', async () => {
    const emailId = unique('mail')
    const broken = { ...eventOf(emailId, { status: 'sent' }), data: { emailId: 7 } }
    await consume(
      broken,
      { ...eventOf(emailId, { status: 'sent' }), type: 'email.unheard_of' },
      eventOf(emailId, { status: 'sent' }),
    )
    assert.equal((await mailOf(emailId))!.status, 'sent')
  })

  it('go with the account', async () => {
    const person = await harness.addPerson(owner.organizationId, 'user')
    const emailId = unique('mail')
    await consume(eventOf(emailId, { status: 'sent', userId: person.userId }))
    assert.equal((await mails(person)).length, 1)
    await owner.api.users.deleteUser({ id: person.userId })
    await consume(eventOf(emailId, { status: 'bounced', userId: person.userId, error: 'gone' }))
    assert.equal(await harness.db.collection('user_emails').countDocuments({ emailId }), 0)
  })

  it('honour the list parameters, the latest first', async () => {
    const person = await harness.addPerson(owner.organizationId, 'user')
    const [first, second] = [unique('mail'), unique('mail')]
    await consume(
      eventOf(second, { status: 'sent', minute: 20, userId: person.userId }),
      eventOf(first, { status: 'failed', minute: 10, userId: person.userId, error: 'no route' }),
    )
    const subjects = async (query: object) => (await mails(person, query)).map(({ subject }) => String(subject))
    assert.deepEqual(await subjects({}), [`About ${second}`, `About ${first}`])
    assert.deepEqual(await subjects({ filter: '{"status":"failed"}' }), [`About ${first}`])
    assert.deepEqual(await subjects({ sort: '{"status":1}' }), [`About ${first}`, `About ${second}`])
    await assert.rejects(subjects({ filter: '{"emailId":"x"}' }), { status: 400, path: 'filter' })
  })
})
