import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BulkJobJson, ChangeContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, type Caller, type Client, serviceCaller } from '@rollcall/rpc'
import { createLogger, createMetrics, type Event } from '@rollcall/runtime'
import { connectStore, createLease, migrate } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import {
  addressHasher,
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'
import { collections } from '../collections.ts'
import { contactCreator } from '../contacts/create-contact.ts'
import type { Adding, Context } from '../context.ts'
import { bulkJob } from './bulk.job.ts'
import { bulk as handlers } from './bulk.ts'
import type { BulkJob } from './bulk-job.model.ts'
import type { ContactsChange } from './plan-change.ts'

type Me = { caller: Caller }
type Contact = { id: string; email: string; tags: string[]; attributes: object } & Record<string, unknown>
type Status = Pick<BulkJobJson, 'state' | 'progress' | 'result' | 'failedReason'>

const logger = createLogger({ service: 'audience', level: 'silent' })
const slugs = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']
const textsOf = (of: readonly string[], length: number) =>
  Object.fromEntries(of.map(slug => [slug, 'x'.repeat(length)]))
const noChange = { addTags: [], removeTags: [], addToLists: [], removeFromLists: [] }
const none = { contactIds: [], emails: [] }

describe('bulk work', () => {
  let audience: TestAudience
  let bulk: Client<'rollcall.audience.v1.Bulk'>
  let lists: Client<'rollcall.audience.v1.Lists'>
  before(async () => {
    audience = await startTestAudience()
    bulk = audience.client('rollcall.audience.v1.Bulk')
    lists = audience.client('rollcall.audience.v1.Lists')
  })
  after(() => audience.stop())

  const create = (me: Me, email: string, rest: object = {}) =>
    jsonOf<Contact>(audience.contacts.createContact({ email, tags: [], ...rest }, me))
  const get = (me: Me, id: string) => jsonOf<Contact>(audience.contacts.getContact({ id }, me))
  const newList = (me: Me) =>
    jsonOf<{ id: string }>(lists.createList({ name: `${new Types.ObjectId()}`, tags: [] }, me))
  const ended = (me: Me, jobId: string) =>
    eventually('the job ends', async () => {
      const status = await jsonOf<Status>(bulk.getBulkJob({ jobId }, me))
      return ['completed', 'failed'].includes(status.state) && status
    })
  type Wanted = Partial<Omit<ChangeContactsRequest, 'change'>> & { change: Partial<ContactsChange> }
  const start = async (me: Me, { change, ...rest }: Wanted) =>
    (await bulk.changeContacts({ ...none, ...rest, change: { ...noChange, ...change } }, me)).jobId
  const change = async (me: Me, wanted: Wanted) => {
    const jobId = await start(me, wanted)
    return { jobId, ...(await ended(me, jobId)) }
  }
  const remove = async (me: Me, selector: object) => {
    const { jobId } = await bulk.deleteContacts({ ...none, ...selector }, me)
    return { jobId, ...(await ended(me, jobId)) }
  }
  const undo = async (me: Me, jobId: string) => ended(me, (await bulk.undoBulkJob({ jobId }, me)).jobId)
  const historyOf = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<{ type: string }>>(audience.contacts.listTimeline({ id, list: { limit: 100 } }, me)))
      .docs
  const eventsOf = async (id: string) => {
    const entries = await audience.db.collection('outbox').find().sort({ _id: 1 }).toArray()
    const events = entries.flatMap(({ event }) => event as Event | Event[])
    return events.filter(({ subject }) => subject === id)
  }
  const stored = (id: string) => audience.db.collection('contacts').findOne({ _id: new Types.ObjectId(id) })
  const counts = ({ result }: Status) => {
    const { matched, changed, unchanged, failed, notFound } = result
    return { matched, changed, unchanged, failed, notFound }
  }

  it('changes what a filter matches, with the history and the events of the single calls', async () => {
    const me = testCaller()
    await audience.attributes.createAttribute({ name: 'Plan', slug: 'plan', type: 'string', options: [] }, me)
    const [one, two, other] = [
      await create(me, 'one@example.com', { tags: ['old', 'kept'] }),
      await create(me, 'two@example.com', { tags: ['old', 'new'] }),
      await create(me, 'other@example.com', { tags: ['kept'] }),
    ]
    const list = await newList(me)
    const wanted = {
      filter: { tags: 'old' },
      change: {
        addTags: ['new'],
        removeTags: ['old'],
        attributes: { plan: 'team' },
        unsubscribed: true,
        blocked: true,
        blockedReason: 'asked',
        addToLists: [list.id],
      },
    }
    const dry = await change(me, { ...wanted, dryRun: true })
    assert.deepEqual(counts(dry), { matched: 2, changed: 2, unchanged: 0, failed: 0, notFound: 0 })
    const shown = dry.result.sample.find(({ contact }) => contact === one.id)!.changes
    assert.deepEqual(
      shown.find(({ field }) => field === 'tags'),
      { field: 'tags', from: ['old', 'kept'], to: ['kept', 'new'] },
    )
    assert.deepEqual((await get(me, one.id)).tags, ['old', 'kept'])
    await assert.rejects(bulk.undoBulkJob({ jobId: dry.jobId }, me), { code: 'bulk.not_undoable' })

    const { progress, jobId, ...done } = await change(me, wanted)
    assert.deepEqual([progress, done.state, done.failedReason], [100, 'completed', null])
    assert.deepEqual(counts({ progress, ...done }), { matched: 2, changed: 2, unchanged: 0, failed: 0, notFound: 0 })
    const changed = await get(me, one.id)
    assert.deepEqual(
      [changed.tags, changed.attributes, changed.unsubscribed, changed.blocked, changed.blockedReason],
      [['kept', 'new'], { plan: 'team' }, true, true, 'asked'],
    )
    const types = ['contact.tags_replaced', 'contact.attributes_updated', 'contact.updated', 'contact.blocked']
    const history = ['contact.created', ...types, 'contact.added_to_list']
    assert.deepEqual((await historyOf(me, one.id)).map(({ type }) => type).sort(), history.sort())
    const events = (await eventsOf(one.id)).map(({ type, data }) => [type, data.changed])
    assert.deepEqual(events, [
      ['contact.created', undefined],
      ['contact.updated', ['tags']],
      ['contact.updated', ['attributes.plan']],
      ['contact.updated', ['unsubscribed']],
      ['contact.unsubscribed', undefined],
      ['contact.blocked', undefined],
      ['triggers.audience.added_to_list', undefined],
    ])
    assert.deepEqual(await get(me, other.id), other)
    const again = await change(me, { contactIds: [one.id, two.id], change: wanted.change })
    assert.deepEqual(counts(again), { matched: 2, changed: 0, unchanged: 2, failed: 0, notFound: 0 })
    const { docs } = await streamedJsonOf<Page<BulkJobJson>>(bulk.listBulkJobs({ list: {} }, me))
    assert.deepEqual([docs.length, docs.find(({ id }) => id === jobId)!.change], [3, { ...noChange, ...wanted.change }])
    assert.deepEqual(
      (await eventsOf(jobId)).map(({ type }) => type),
      ['audience.bulk_started', 'audience.bulk_completed'],
    )
  })

  it('counts ids and emails of no contact, and contacts that it may not change', async () => {
    const me = testCaller()
    const many = Array.from({ length: 100 }, (_, index) => `tag ${index}`)
    const [full, one] = [await create(me, 'full@example.com', { tags: many }), await create(me, 'ONE@example.com')]
    const emails = ['one@example.com', 'Full@example.com', 'nobody@example.com']
    const byEmail = await change(me, { emails, change: { addTags: ['more'] } })
    assert.deepEqual(counts(byEmail), { matched: 2, changed: 1, unchanged: 0, failed: 1, notFound: 1 })
    assert.deepEqual(byEmail.result.errors, [
      { contact: full.id, code: 'request.invalid_field', message: 'invalid field -> tags: at most 100 of them' },
    ])
    assert.deepEqual((await get(me, one.id)).tags, ['more'])
    const stranger = testCaller()
    const foreign = await change(stranger, { contactIds: [one.id], change: { addTags: ['theirs'] } })
    assert.deepEqual(counts(foreign), { matched: 0, changed: 0, unchanged: 0, failed: 0, notFound: 1 })
    await assert.rejects(bulk.getBulkJob({ jobId: byEmail.jobId }, stranger), { code: 'bulk_job.not_found' })
    await assert.rejects(bulk.getBulkJob({ jobId: 'nonsense' }, me), { code: 'bulk_job.not_found' })
  })

  it('limits the text of the attributes of each contact, also of those that an undo restores', async () => {
    const me = testCaller()
    for (const slug of slugs)
      await audience.attributes.createAttribute({ name: slug, slug, type: 'string', options: [] }, me)
    const full = await create(me, 'full@example.com', { attributes: textsOf(slugs.slice(0, 6), 10_000) })
    const small = await create(me, 'small@example.com')
    const selected = { contactIds: [full.id, small.id] }
    const grown = await change(me, { ...selected, change: { attributes: textsOf(slugs.slice(6), 10_000) } })
    assert.deepEqual(counts(grown), { matched: 2, changed: 1, unchanged: 0, failed: 1, notFound: 0 })
    assert.deepEqual(grown.result.errors, [
      {
        contact: full.id,
        code: 'request.invalid_field',
        message: 'invalid field -> attributes: at most 64 KiB of text in all attributes of a contact',
      },
    ])
    const emptied = await change(me, { contactIds: [full.id], change: { attributes: { a0: null, a1: 'x' } } })
    await audience.contacts.updateAttributes({ id: full.id, attributes: textsOf(['a6'], 10_000) }, me)
    assert.equal((await undo(me, emptied.jobId)).state, 'completed')
    const sizes = Object.values((await get(me, full.id)).attributes).map(text => String(text).length)
    assert.deepEqual(sizes.sort(), [1, ...Array(6).fill(10_000)], 'one of the two values has room again')
  })

  it('refuses what it cannot do, before it does anything', async () => {
    const me = testCaller()
    const { id } = await create(me, 'one@example.com')
    const list = await newList(me)
    await lists.updateList({ id: list.id, archived: true }, me)
    const unknown = String(new Types.ObjectId())
    const cases: [Wanted, string, string][] = [
      [{ change: { addTags: ['a'] } }, 'request.missing_field', 'contactIds'],
      [{ contactIds: [id], filter: {}, change: { addTags: ['a'] } }, 'request.extra_field', 'filter'],
      [{ filter: { nothing: 1 }, change: { addTags: ['a'] } }, 'request.invalid_field', 'filter'],
      [{ contactIds: [id], change: { unsubscribed: false } }, 'request.invalid_field', 'change.unsubscribed'],
      [{ contactIds: [id], change: { blockedReason: 'why' } }, 'request.extra_field', 'change.blockedReason'],
      [{ contactIds: [id], change: { attributes: { no: 1 } } }, 'request.extra_field', 'change.attributes.no'],
      [{ contactIds: [id], change: { addToLists: [unknown] } }, 'list.unknown', 'change.addToLists.0'],
      [{ contactIds: [id], change: { addToLists: ['x'.repeat(24)] } }, 'list.unknown', 'change.addToLists.0'],
      [{ contactIds: [id], change: { removeFromLists: [unknown] } }, 'list.unknown', 'change.removeFromLists.0'],
      [{ contactIds: [id], change: { addToLists: [list.id] } }, 'list.archived', 'change.addToLists.0'],
    ]
    for (const [wanted, code, path] of cases)
      await assert.rejects(start(me, wanted), error => {
        const { code: actual, details } = error as { code: string; details: { path: string } }
        assert.deepEqual([actual, details.path], [code, path])
        return true
      })
    assert.equal((await streamedJsonOf<Page<unknown>>(bulk.listBulkJobs({ list: {} }, me))).totalDocs, 0)
  })

  it('needs the permissions of the single calls, and lets who may start a job follow and end it', async () => {
    const me = testCaller()
    const { id } = await create(me, 'one@example.com')
    const list = await newList(me)
    const as = (...permissions: string[]): Me => ({ caller: { ...me.caller, permissions } as Caller })
    const denied = { code: 'access.permission_denied' }
    const tagging = { contactIds: [id], change: { addTags: ['a'] } }
    const updater = as('audience.update')
    await assert.rejects(start(as('audience.read'), tagging), denied)
    await assert.rejects(start(updater, { filter: {}, change: tagging.change }), denied)
    await assert.rejects(start(updater, { contactIds: [id], change: { addToLists: [list.id] } }), denied)
    await assert.rejects(start(updater, { contactIds: [id], change: { removeFromLists: [list.id] } }), denied)
    await assert.rejects(remove(updater, { contactIds: [id] }), denied)
    const { jobId, state } = await change(updater, tagging)
    assert.equal(state, 'completed')
    assert.equal((await ended(as('audience.read'), jobId)).state, 'completed')
    await assert.rejects(bulk.getBulkJob({ jobId }, as('audience.delete')), denied)
    await assert.rejects(bulk.undoBulkJob({ jobId }, as('audience.read')), denied)
    await assert.rejects(bulk.cancelBulkJob({ jobId }, as('audience.read')), denied)
    assert.equal((await undo(updater, jobId)).result.changed, 1)
  })

  it('undoes what nobody has changed since, once', async () => {
    const me = testCaller()
    const [a, b, c, d] = [
      await create(me, 'a@example.com', { tags: ['x'] }),
      await create(me, 'b@example.com', { tags: ['x'] }),
      await create(me, 'c@example.com'),
      await create(me, 'd@example.com'),
    ]
    const [left, joined] = [await newList(me), await newList(me)]
    await lists.addMembers({ id: left.id, contactIds: [a.id], emails: [] }, me)
    const { jobId } = await change(me, {
      filter: {},
      change: {
        addTags: ['y'],
        blocked: true,
        unsubscribed: true,
        addToLists: [joined.id],
        removeFromLists: [left.id],
      },
    })
    await audience.contacts.replaceTags({ id: b.id, tags: ['x', 'y', 'z'] }, me)
    await audience.contacts.blockContact({ id: c.id }, me)
    await audience.contacts.updateContact({ id: d.id, unsubscribed: true }, me)
    const undone = await undo(me, jobId)
    assert.deepEqual([undone.state, counts(undone)], ['completed', { ...counts(undone), matched: 4, changed: 4 }])
    const after = await Promise.all([a, b, c, d].map(({ id }) => get(me, id)))
    assert.deepEqual(
      after.map(({ tags, blocked, unsubscribed }) => [tags, blocked, unsubscribed]),
      [
        [['x'], false, false],
        [['x', 'z'], false, false],
        [[], true, false], // blocked by somebody else since
        [[], false, true], // opted out by somebody else since
      ],
    )
    const listsOf = async (id: string) => ((await stored(id))!.lists as Types.ObjectId[]).map(String)
    assert.deepEqual(await Promise.all([a, b].map(({ id }) => listsOf(id))), [[left.id], []])
    await assert.rejects(bulk.undoBulkJob({ jobId }, me), { code: 'bulk.undone' })
  })

  it('leaves on a list who has signed up for it by a form since', async () => {
    const me = testCaller()
    const [one, two] = [await create(me, 'one@example.com'), await create(me, 'two@example.com')]
    const list = await newList(me)
    const { jobId } = await change(me, { contactIds: [one.id, two.id], change: { addToLists: [list.id] } })
    const source = { collectionId: 'c'.repeat(24), entryId: 'e'.repeat(24), form: 'Newsletter' }
    const person = { email: one.email, name: '', attributes: {}, tags: [], lists: [list.id] }
    const signUp = { id: String(new Types.ObjectId()), ...source, ...person, at: '2026-05-01T09:00:00.000Z' }
    await audience.signUps.applySignUp(signUp, { caller: serviceCaller('content', me.caller.organizationId) })
    assert.equal((await undo(me, jobId)).result.changed, 1)
    const { docs } = await streamedJsonOf<Page<Contact>>(lists.listMembers({ id: list.id, list: {} }, me))
    assert.deepEqual(
      docs.map(({ id }) => id),
      [one.id],
    )
  })

  it('deletes, and brings back what it deleted with id, tags, lists and history', async () => {
    const me = testCaller()
    const [one, taken] = [await create(me, 'one@example.com', { tags: ['x'] }), await create(me, 'taken@example.com')]
    const list = await newList(me)
    await lists.addMembers({ id: list.id, contactIds: [one.id], emails: [] }, me)
    const before = await stored(one.id)
    const history = await historyOf(me, one.id)
    const memberships = () => audience.db.collection('memberships').find({ contact: before!._id }).toArray()
    const joined = await memberships()
    const dry = await remove(me, { filter: {}, dryRun: true })
    assert.deepEqual([dry.result.changed, dry.result.sample.length], [2, 2])
    assert.deepEqual(await stored(one.id), before)

    const { jobId, ...done } = await remove(me, { filter: {} })
    assert.deepEqual(counts(done), { matched: 2, changed: 2, unchanged: 0, failed: 0, notFound: 0 })
    await assert.rejects(get(me, one.id), { code: 'contact.not_found' })
    assert.equal((await jsonOf<{ memberCount: number }>(lists.getList({ id: list.id }, me))).memberCount, 0)
    await create(me, 'TAKEN@example.com')
    const undone = await undo(me, jobId)
    assert.deepEqual(counts(undone), { matched: 2, changed: 1, unchanged: 0, failed: 1, notFound: 0 })
    assert.deepEqual(undone.result.errors, [
      { contact: taken.id, code: 'record.duplicate', message: 'duplicate -> email' },
    ])
    assert.deepEqual(await stored(one.id), before)
    assert.deepEqual(await memberships(), joined)
    assert.deepEqual((await historyOf(me, one.id)).slice(1), history)
    const { memberCount, activeCount } = await jsonOf<Record<string, number>>(lists.getList({ id: list.id }, me))
    assert.deepEqual([memberCount, activeCount], [1, 1])
    const page = await streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: {} }, me))
    assert.deepEqual([page.totalDocs, page.docs.map(({ email }) => email)], [2, ['TAKEN@example.com', one.email]])
    assert.deepEqual((await eventsOf(one.id)).map(({ type }) => type).slice(-2), [
      'contact.deleted',
      'contact.restored',
    ])
  })

  it('brings back no values of a deleted attribute in a new one with its slug, nor values that attributes do not accept', async () => {
    const me = testCaller()
    const { createAttribute, updateAttribute, deleteAttribute } = audience.attributes
    const newAttribute = (rest: object) =>
      jsonOf<{ id: string }>(createAttribute({ name: 'Plan', slug: 'plan', type: 'string', options: [], ...rest }, me))
    const tier = await newAttribute({ slug: 'tier', type: 'enum', options: ['gold', 'silver'] })
    const plan = await newAttribute({})
    const attributes = { plan: 'old', tier: 'gold' }
    const [one, two] = [
      await create(me, 'one@example.com', { attributes }),
      await create(me, 'two@example.com', { attributes }),
    ]
    const changed = await change(me, { contactIds: [one.id], change: { attributes: { plan: 'new' } } })
    const deleted = await remove(me, { contactIds: [two.id] })
    await deleteAttribute({ id: plan.id }, me)
    await newAttribute({})
    await updateAttribute({ id: tier.id, options: ['silver'] }, me)
    await audience.contacts.updateAttributes({ id: one.id, attributes: { plan: 'new' } }, me)
    for (const { jobId } of [changed, deleted]) await undo(me, jobId)
    assert.deepEqual((await get(me, one.id)).attributes, { plan: 'new', tier: 'gold' })
    assert.deepEqual((await get(me, two.id)).attributes, {})
  })

  it('ends after the mail that is being handed over, if contacts get no more of it', async () => {
    const me = testCaller()
    const { id } = await create(me, 'one@example.com')
    const holds = audience.db.collection('holds')
    const hold = { organization: new Types.ObjectId(me.caller.organizationId), keys: [id] }
    const { insertedId: _id } = await holds.insertOne({ ...hold, until: new Date(Date.now() + 600_000) })
    await change(me, { contactIds: [id], change: { addTags: ['a'] } }) // which ends no mail
    const jobId = await start(me, { contactIds: [id], change: { unsubscribed: true } })
    await eventually('the contact is changed', async () => (await get(me, id)).unsubscribed)
    const status = () => jsonOf<Status>(bulk.getBulkJob({ jobId }, me))
    assert.deepEqual([(await status()).state, (await status()).progress], ['active', 99])
    await holds.deleteOne({ _id })
    assert.equal((await ended(me, jobId)).state, 'completed')
  })

  it('is cancelled at once, keeps what is done, and can be undone then', async () => {
    const me = testCaller()
    const { id } = await create(me, 'one@example.com')
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    const _id = new Types.ObjectId()
    const lease = createLease(store, `bulk ${_id}`, 'another process', 60_000)
    try {
      await lease.acquire()
      const origin = { actor: { kind: 'system', id: null, name: 'test' }, credential: null, ip: null, requestId: null }
      const change = JSON.stringify({ ...noChange, addTags: ['a'] })
      const job = { _id, kind: 'change', change, values: [id], createdBy: origin.actor, origin }
      await collections(store)
        .of(me.caller.organizationId)
        .bulkJobs.insertOne(job as never)
      const jobId = String(_id)
      await assert.rejects(bulk.undoBulkJob({ jobId }, me), { code: 'bulk.unfinished' })
      assert.equal((await bulk.cancelBulkJob({ jobId }, me)).success, true)
      const { state, failedReason } = await ended(me, jobId)
      assert.deepEqual([state, failedReason], ['failed', 'cancelled'])
      await assert.rejects(bulk.cancelBulkJob({ jobId }, me), { code: 'bulk.finished' })
      await lease.release()
      assert.equal((await undo(me, jobId)).result.matched, 0)
      assert.deepEqual((await get(me, id)).tags, [])
      await audience.db
        .collection('bulk_jobs')
        .updateOne({ _id }, { $set: { undoneBy: null, finishedAt: new Date(Date.now() - 8 * 24 * 3_600_000) } })
      await assert.rejects(bulk.undoBulkJob({ jobId }, me), { code: 'bulk.too_old' })
    } finally {
      await store.close()
    }
  })

  it('lists jobs without reading what selects their contacts', async () => {
    const me = testCaller()
    const url = new URL(process.env.MONGODB_URL!)
    url.searchParams.set('monitorCommands', 'true')
    await using opened = new AsyncDisposableStack()
    const store = await connectStore({ url: url.href, dbName: audience.db.databaseName, logger })
    opened.defer(() => store.close())
    const replies: unknown[] = []
    store.connection.getClient().on('commandSucceeded', ({ reply }) => replies.push(reply))
    const context = { store, collections: collections(store) } as unknown as Context
    const emails = Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(50)}${index}@example.com`)
    const { jobId } = await change(me, { emails, change: { addTags: ['a'] } })
    const listing = jsonOf<Page<BulkJobJson>>(handlers(context).listBulkJobs({ list: {} }, me as Call) as never)
    assert.deepEqual(
      (await listing).docs.map(({ id, kind, result }) => [id, kind, result.notFound]),
      [[jobId, 'change', 1000]],
    )
    assert.ok(replies.length > 0 && JSON.stringify(replies).length < 10_000)
  })

  it('refuses more than 20 unfinished jobs of an organization', async () => {
    const me = testCaller()
    const { id } = await create(me, 'one@example.com')
    const organization = new Types.ObjectId(me.caller.organizationId)
    // Of a state that no replica works on.
    const waiting = Array.from({ length: 20 }, () => ({ organization, state: 'waiting', kind: 'change', values: [] }))
    const leases = waiting.map(() => new Types.ObjectId())
    await audience.db
      .collection('leases')
      .insertMany(
        leases.map(_id => ({ _id: `bulk ${_id}`, holder: 'another', until: new Date(Date.now() + 60_000) }) as never),
      )
    const jobs = waiting.map((job, index) => ({ ...job, _id: leases[index]! }))
    await audience.db.collection('bulk_jobs').insertMany(jobs)
    await assert.rejects(start(me, { contactIds: [id], change: { addTags: ['a'] } }), {
      code: 'quota.too_many_pending',
    })
    await audience.db.collection('bulk_jobs').deleteMany({ organization })
  })
})

describe('bulk work that is killed', () => {
  const CONTACTS = 60
  const STEP = 10
  const opened = new AsyncDisposableStack()
  let data: Adding
  before(async () => {
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: `bulk-${new Types.ObjectId()}`, logger })
    opened.defer(() => store.close())
    opened.defer(() => dropDatabase(store.connection))
    data = { store, collections: collections(store), logger, addressHasher }
    await migrate(store, logger)
  })
  after(() => opened.disposeAsync())

  /** A process that dies at every third transaction before its commit, and at every third after it. */
  const dying = (afterCommit: () => Promise<void>): Adding => {
    let count = 0
    const transaction: Adding['store']['transaction'] = async (work, options) => {
      const fate = ++count % 3
      if (fate === 1) throw new Error('killed before the commit')
      const result = await data.store.transaction(work, options)
      if (fate === 2) {
        await afterCommit()
        throw new Error('killed after the commit')
      }
      return result
    }
    return { ...data, store: { ...data.store, transaction } }
  }

  const origin = {
    actor: { kind: 'system' as const, id: null, name: 'test' },
    credential: null,
    ip: null,
    requestId: null,
  }
  const runToEnd = async (organizationId: string, draft: object, on: Adding, step = STEP) => {
    const { bulkJobs } = data.collections.of(organizationId)
    const stored = await bulkJobs.insertOne({ ...draft, createdBy: origin.actor, origin } as never)
    const job = bulkJob(on, {}, { step, backoff: { baseMs: 1, maxMs: 1 } })
    job.start({ logger, metrics: createMetrics('test') })
    try {
      await job.complete(stored, AbortSignal.timeout(scaledTimeout(30_000)))
    } finally {
      await job.stop()
    }
    return bulkJobs.get(stored._id, 'bulk_job')
  }

  /** Changes and undoes contacts in processes that die. Returns what is left of it. */
  const survive = async (afterCommit: (job: () => Promise<BulkJob>) => Promise<void>) => {
    const { caller } = testCaller()
    const { organizationId } = caller
    const { contacts, history, bulkJobs } = data.collections.of(organizationId)
    const create = contactCreator(data)
    const call = { caller, deadline: Date.now() + scaledTimeout(30_000) } as Call
    const emails = Array.from({ length: CONTACTS }, (_, index) => `c${index}@example.com`)
    await Promise.all(emails.map(email => create({ email, tags: [] } as never, call)))
    const current = async () => (await bulkJobs.find({}, { sort: { _id: -1 }, limit: 1 }))[0]!
    const on = dying(() => afterCommit(current))
    const change = JSON.stringify({ ...noChange, addTags: ['a'] })
    const first = { kind: 'change', change, filter: '{}', cursor: CONTACTS, first: CONTACTS }
    const done = await runToEnd(organizationId, first, on)
    const tagged = await contacts.count({ tags: 'a' })
    const { changed } = done.result
    const undone = await runToEnd(
      organizationId,
      { kind: 'undo', undoes: done._id, cursor: changed, first: changed },
      on,
    )
    const outbox = await data.store.connection.collection('outbox').find().toArray()
    const events = outbox.flatMap(({ event }) => event as Event | Event[])
    return {
      states: [done.state, undone.state],
      counts: [done.result.matched, changed, undone.result.matched, undone.result.changed],
      tagged: [tagged, await contacts.count({ tags: 'a' })],
      history: await history.count({ type: 'contact.tags_replaced' }),
      events: events.filter(each => each.organization === organizationId && each.type === 'contact.updated').length,
    }
  }
  const expected = {
    states: ['completed', 'completed'],
    counts: [CONTACTS, CONTACTS, CONTACTS, CONTACTS],
    tagged: [CONTACTS, 0],
    history: 2 * CONTACTS,
    events: 2 * CONTACTS,
  }

  it('changes and undoes each contact once, with its history and events', async () => {
    assert.deepEqual(await survive(async () => {}), expected)
  })

  it('fails the job in the end: a step counts as failed until it is completed', async () => {
    const { organizationId } = testCaller().caller
    const { bulkJobs } = data.collections.of(organizationId)
    const change = JSON.stringify({ ...noChange, addTags: ['a'] })
    const draft = { kind: 'change', change, filter: '{}', cursor: STEP, first: STEP }
    const counts: (number | undefined)[] = []
    const transaction: Adding['store']['transaction'] = async (work, options) => {
      counts.push((await bulkJobs.findOne({}))?.failures)
      return data.store.transaction(work, options)
    }
    const on = { ...data, store: { ...data.store, transaction } }
    const done = await runToEnd(organizationId, { ...draft, failures: 14 }, on)
    assert.deepEqual([done.state, done.failures, counts], ['completed', 0, [15]])
    const interrupted = await runToEnd(organizationId, { ...draft, failures: 15 }, on)
    assert.deepEqual([interrupted.state, interrupted.failedReason], ['failed', 'interrupted too often'])
    assert.equal(counts.length, 1)
  })

  it('costs one write for all steps of a process', async () => {
    const url = new URL(process.env.MONGODB_URL!)
    url.searchParams.set('monitorCommands', 'true')
    const store = await connectStore({ url: url.href, dbName: data.store.connection.name, logger })
    const updates: { update: string; autocommit?: boolean }[] = []
    store.connection.getClient().on('commandStarted', ({ command }) => {
      if (command.update === 'bulk_jobs') updates.push(command as (typeof updates)[number])
    })
    const { caller } = testCaller()
    const create = contactCreator(data)
    const call = { caller, deadline: Date.now() + scaledTimeout(30_000) } as Call
    const emails = ['c1@example.com', 'c2@example.com', 'c3@example.com']
    for (const email of emails) await create({ email, tags: [] } as never, call)
    const change = JSON.stringify({ ...noChange, addTags: ['a'] })
    const draft = { kind: 'change', change, field: 'emailKey', values: emails }
    const on = { ...data, store, collections: collections(store) }
    const done = await runToEnd(caller.organizationId, draft, on, 1).finally(() => store.close())
    assert.deepEqual([done.state, done.result.changed], ['completed', 3])
    const ofSteps = updates.filter(({ autocommit }) => autocommit === false)
    assert.deepEqual([ofSteps.length, updates.length], [3, 4])
  })

  it('does not if the cursor is stored apart from the changes', async () => {
    const afterCommit = async (current: () => Promise<BulkJob>) => {
      const { _id, organization, cursor, first, state } = await current()
      if (state === 'completed') return
      const before = Math.min(first, cursor + STEP)
      await data.collections.of(organization).bulkJobs.updateOne({ _id }, { $set: { cursor: before, state: 'active' } })
    }
    const left = await survive(afterCommit).catch(error => error)
    assert.notDeepEqual(left, expected)
  })
})
