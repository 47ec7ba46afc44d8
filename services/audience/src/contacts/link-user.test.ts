import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { topics } from '@rollcall/bus'
import type { Caller } from '@rollcall/rpc'
import { type Event, pause } from '@rollcall/runtime'
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

type Me = { caller: Caller }
type Contact = { id: string; user: unknown; updatedAt: string }
type Entry = { type: string; subject: string; contact: string; at: string; actor: { name: string }; data: object }

const nobody = String(new Types.ObjectId())

describe('a linked account', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const newContact = (me: Me, email: string) =>
    jsonOf<Contact>(audience.contacts.createContact({ email, tags: [] }, me))
  const get = (me: Me, id: string) => jsonOf<Contact>(audience.contacts.getContact({ id }, me))
  const newUser = ({ caller: { organizationId } }: Me, name: string) => {
    const id = String(new Types.ObjectId())
    const user = { id, name, email: `${name}@example.com`, role: 'user', blocked: false }
    audience.users.set(organizationId, [...(audience.users.get(organizationId) ?? []), user])
    return user
  }
  const link = (me: Me, id: string, userId: string | null) =>
    audience.contacts.linkUser({ id, userId: userId ?? '' }, me)
  const timeline = (me: Me, id: string, query: object = { limit: 100 }) =>
    streamedJsonOf<Page<Entry>>(audience.contacts.listTimeline({ id, list: query }, me))
  const typesOf = async (me: Me, id: string) => (await timeline(me, id)).docs.map(({ type }) => type)
  let clock = Date.now()
  /** Each a millisecond after the one before it. */
  const userEvent = ({ caller: { organizationId } }: Me, type: string, subject: string, data: object): Event => ({
    id: randomUUID(),
    type,
    source: 'identity',
    subject,
    organization: organizationId,
    time: new Date(++clock).toISOString(),
    data: { ...data },
  })
  const actor = (id: string) => ({ kind: 'user', id, name: 'somebody' })
  const signIn = (me: Me, userId: string) => {
    const data = { userId, ip: '::1', userAgent: 'test', at: new Date().toISOString(), actor: actor(userId) }
    return userEvent(me, 'session.created', userId, data)
  }
  const until = (condition: () => Promise<boolean>) => eventually('the events are consumed', condition)
  const entriesOf = (person: string) =>
    audience.db.collection('history').countDocuments({ person: new Types.ObjectId(person) })

  it('is attached, replaced and detached, with entry and event', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const [one, two] = [newUser(me, 'one'), newUser(me, 'two')]
    assert.deepEqual(await link(me, id, one.id), { success: true, message: 'updated' })
    assert.equal((await get(me, id)).user, one.id)
    await link(me, id, one.id)
    await link(me, id, two.id)
    assert.equal((await get(me, id)).user, two.id)
    await link(me, id, null)
    await link(me, id, null)
    assert.equal((await get(me, id)).user, null)
    const steps = ['contact.user_unlinked', 'contact.user_linked', 'contact.user_linked', 'contact.created']
    assert.deepEqual(await typesOf(me, id), steps)
    const events = await audience.db.collection('outbox').find({ 'event.subject': id }).sort({ _id: 1 }).toArray()
    assert.deepEqual(
      events.slice(1).map(({ event }) => [event.type, event.data.changed]),
      Array.from({ length: 3 }, () => ['contact.updated', ['user']]),
    )
    await link(me, id, one.id)
    assert.equal((await get(me, id)).user, one.id, 'who was given up can be linked again')
  })

  it('has one contact at most', async () => {
    const me = testCaller()
    const [a, b] = [await newContact(me, 'a@example.com'), await newContact(me, 'b@example.com')]
    const user = newUser(me, 'one')
    const taken = { code: 'record.duplicate', path: 'userId' }
    const results = await Promise.allSettled([link(me, a.id, user.id), link(me, b.id, user.id)])
    const refused = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
    assert.deepEqual(
      refused.map(({ code, path }) => ({ code, path })),
      [taken],
    )
    const holder = (await get(me, a.id)).user ? a : b
    const other = holder === a ? b : a
    await assert.rejects(link(me, other.id, user.id), taken)
    await link(me, holder.id, null)
    await link(me, other.id, user.id)
    await audience.contacts.deleteContact({ id: other.id }, me)
    await link(me, holder.id, user.id)
  })

  it('is found through its index', async () => {
    const me = testCaller()
    const [first] = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(name => newContact(me, `${name}@example.com`)))
    const user = newUser(me, 'one')
    await link(me, first!.id, user.id)
    const filter = { organization: new Types.ObjectId(me.caller.organizationId), user: new Types.ObjectId(user.id) }
    const { queryPlanner } = await audience.db.collection('contacts').find(filter).explain()
    assert.match(JSON.stringify(queryPlanner.winningPlan), /organization_1_user_1"/)
  })

  it('has to exist in the organization, and so has the contact', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const foreign = newUser(testCaller(), 'one')
    for (const userId of [nobody, foreign.id])
      await assert.rejects(link(me, id, userId), { code: 'user.not_found', message: 'user not found' })
    await assert.rejects(link(me, nobody, nobody), { code: 'contact.not_found', message: 'contact not found' })
    await assert.rejects(link(testCaller(), id, null), { code: 'contact.not_found', message: 'contact not found' })
  })

  it('is shown by populate, with more than its name to those alone who may read users', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    await newContact(me, 'two@example.com')
    const user = newUser(me, 'one')
    await link(me, id, user.id)
    const { docs } = await streamedJsonOf<Page<Contact>>(
      audience.contacts.listContacts({ list: { populate: 'user', sort: '{"email":1}' } }, me),
    )
    const reader = { caller: { ...me.caller, permissions: ['audience.read'] } }
    const named = await streamedJsonOf<Page<Contact>>(
      audience.contacts.listContacts({ list: { populate: 'user', filter: '{"email":"one@example.com"}' } }, reader),
    )
    assert.deepEqual(named.docs[0]?.user, { _id: user.id, id: user.id, name: 'one' })
    assert.deepEqual(
      docs.map(({ user }) => user),
      [{ _id: user.id, ...user }, null],
    )
  })

  it('brings its trail into the timeline, and takes it away again', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const user = newUser(me, 'one')
    const admin = newUser(me, 'admin')
    clock = Date.now()
    const signedIn = signIn(me, user.id)
    const events = [
      signedIn,
      signedIn, // delivered twice
      userEvent(me, 'user.blocked', user.id, { userId: user.id, actor: actor(admin.id) }),
      userEvent(me, 'token.created', nobody, {
        token: { _id: nobody, id: nobody, name: 'one' },
        actor: actor(user.id),
      }),
      signIn(testCaller(), user.id),
    ]
    await audience.publish(topics.identity, events)
    await until(async () => (await entriesOf(user.id)) >= 4)
    assert.deepEqual(await typesOf(me, id), ['contact.created'])

    while (Date.now() <= clock) await pause(1)
    await link(me, id, user.id)
    const { docs, totalDocs } = await timeline(me, id)
    assert.equal(totalDocs, 5)
    assert.deepEqual(
      docs.map(({ type, subject, contact }) => [type, subject, contact]),
      [
        ['contact.user_linked', 'contact', id],
        ['token.created', 'user', id],
        ['user.blocked', 'user', id],
        ['session.created', 'user', id],
        ['contact.created', 'contact', id],
      ],
    )
    assert.deepEqual(
      docs.slice(1, 4).map(({ data }) => data),
      [{}, { userId: user.id }, {}],
    )
    const mayRead = async (permissions: string[]) => {
      const page = await timeline({ caller: { ...me.caller, permissions } }, id)
      return page.docs.filter(({ subject }) => subject === 'user').map(({ type, data }) => [type, data])
    }
    assert.deepEqual(await mayRead(['audience.read', 'users.read']), [
      ['token.created', {}],
      ['user.blocked', { userId: user.id }],
      ['session.created', {}],
    ])
    assert.deepEqual(await mayRead(['audience.read']), [
      ['token.created', {}],
      ['user.blocked', {}],
      ['session.created', {}],
    ])
    const paged = await timeline(me, id, { page: 2, limit: 2 })
    assert.deepEqual([paged.docs.map(({ type }) => type), paged.totalDocs], [['user.blocked', 'session.created'], 5])
    const filtered = await timeline(me, id, { filter: JSON.stringify({ subject: 'user', contact: id }) })
    assert.equal(filtered.totalDocs, 3)
    assert.equal((await streamedJsonOf<Page<Entry>>(audience.contacts.listActivities({ id }, me))).totalDocs, 0)

    await link(me, id, null)
    assert.deepEqual(await typesOf(me, id), ['contact.user_unlinked', 'contact.user_linked', 'contact.created'])
  })

  it('shows no more of a trail that was stored whole than of any other', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const user = newUser(me, 'one')
    await link(me, id, user.id)
    const stored = (type: string, data: object) => ({
      organization: new Types.ObjectId(me.caller.organizationId),
      person: new Types.ObjectId(user.id),
      subject: 'user',
      kind: 'activity',
      type,
      at: new Date(),
      actor: actor(user.id),
      data,
    })
    await audience.db
      .collection('history')
      .insertMany([
        stored('session.created', { ip: '::1', userAgent: 'x' }),
        stored('role.saved', { role: { permissions: { links: ['read'] } } }),
        stored('user.updated', { user: { email: 'one@example.com' }, changed: ['name'] }),
      ])
    const ofUser = async (query: object = {}) => (await timeline(me, id, { limit: 100, ...query })).docs
    const shown = (await ofUser({ filter: '{"subject":"user"}', sort: '{"type":1}' })).map(entry => [
      entry.type,
      entry.data,
    ])
    assert.deepEqual(shown, [
      ['session.created', {}],
      ['user.updated', { changed: ['name'] }],
    ])
    assert.deepEqual(await ofUser({ filter: '{"data.ip":"::1"}' }), [])
  })

  it('is unlinked when it is deleted, and its trail goes with it', async () => {
    const me = testCaller()
    const { id } = await newContact(me, 'one@example.com')
    const user = newUser(me, 'one')
    await link(me, id, user.id)
    const gone = { _id: user.id, id: user.id }
    const deletion = userEvent(me, 'user.deleted', user.id, { user: gone, actor: actor(user.id) })
    await audience.publish(topics.identity, [signIn(me, user.id), deletion, deletion])
    await until(async () => (await get(me, id)).user === null)
    assert.deepEqual(await typesOf(me, id), ['contact.user_unlinked', 'contact.user_linked', 'contact.created'])
    assert.equal(await entriesOf(user.id), 0)
  })

  it('that is deleted is not linked to a contact that the undo of a bulk deletion brings back', async () => {
    const me = testCaller()
    const bulk = audience.client('rollcall.audience.v1.Bulk')
    const ended = ({ jobId }: { jobId: string }) =>
      eventually(
        'the job ends',
        async () => (await jsonOf<{ state: string }>(bulk.getBulkJob({ jobId }, me))).state === 'completed',
      )
    const { id } = await newContact(me, 'one@example.com')
    const user = newUser(me, 'one')
    await link(me, id, user.id)
    const deletion = await bulk.deleteContacts({ contactIds: [id], emails: [] }, me)
    await ended(deletion)
    const gone = { user: { _id: user.id, id: user.id }, actor: actor(user.id) }
    await audience.publish(topics.identity, [userEvent(me, 'user.deleted', user.id, gone), signIn(me, user.id)])
    await until(async () => (await entriesOf(user.id)) === 1)
    await ended(await bulk.undoBulkJob(deletion, me))
    assert.equal((await get(me, id)).user, null)
  })
})
