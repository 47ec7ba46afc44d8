import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import type {
  AddMembersResponse,
  BulkStatusJson,
  CreateListRequest,
  RemoveMembersResponse,
  SelectMembersRequest,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { Caller, Client } from '@rollcall/rpc'
import { createLogger, type Event } from '@rollcall/runtime'
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
import { repairListCounts } from './repair-counts.ts'

const logger = createLogger({ service: 'audience', level: 'silent' })

type Me = { caller: Caller }
type List = { id: string; name: string; memberCount: number; activeCount: number } & Record<string, unknown>
type Contact = { id: string; email: string; name: string; updatedAt: string }

const nobody = String(new Types.ObjectId())
/** More than one step of a job by filter takes. */
const SEVERAL_STEPS = 1500

describe('lists', () => {
  let audience: TestAudience
  let lists: Client<'rollcall.audience.v1.Lists'>
  let bulk: Client<'rollcall.audience.v1.Bulk'>
  before(async () => {
    audience = await startTestAudience()
    lists = audience.client('rollcall.audience.v1.Lists')
    bulk = audience.client('rollcall.audience.v1.Bulk')
  })
  after(() => audience.stop())

  const create = (me: Me, rest: Partial<CreateListRequest> = {}) =>
    jsonOf<List>(lists.createList({ name: `List ${new Types.ObjectId()}`, tags: [], ...rest }, me))
  const get = (me: Me, id: string) => jsonOf<List>(lists.getList({ id }, me))
  const countsOf = async (me: Me, id: string) => {
    const { memberCount, activeCount } = await get(me, id)
    const members = await audience.db.collection('memberships').countDocuments({ list: new Types.ObjectId(id) })
    assert.equal(members, memberCount, 'the count is that of the memberships')
    return [memberCount, activeCount]
  }
  const newContact = (me: Me, email: string, rest: object = {}) =>
    jsonOf<Contact>(audience.contacts.createContact({ email, tags: [], ...rest }, me))
  const newContacts = async (me: Me, count: number) => {
    const rows = Array.from({ length: count }, (_, index) => ({
      row: index + 1,
      email: `c${index}@example.com`,
      name: `Contact ${index}`,
      attributes: {},
      tags: index % 10 === 0 ? ['ten'] : [],
      clearTags: false,
    }))
    const job = { jobId: String(new Types.ObjectId()), duplicateStrategy: 'update', tags: [] }
    for (let from = 0; from < count; from += 1000)
      await audience.batches.applyBatch({ ...job, number: from, listIds: [], rows: rows.slice(from, from + 1000) }, me)
  }
  const selected = (id: string, selector: Partial<SelectMembersRequest>) => ({
    id,
    contactIds: [],
    emails: [],
    ...selector,
  })
  const resultOf = (me: Me, jobId: string) =>
    eventually('the job ends', async () => {
      const status = await jsonOf<BulkStatusJson>(bulk.getBulkJob({ jobId }, me))
      return status.state === 'completed' && status.result
    })
  const add = async (me: Me, id: string, selector: Partial<SelectMembersRequest>): Promise<AddMembersResponse> => {
    const answer = await lists.addMembers(selected(id, selector), me)
    if (answer.jobId === undefined) return answer
    const { added, alreadyMember, notFound } = await resultOf(me, answer.jobId)
    return { added: added!, alreadyMember: alreadyMember!, notFound }
  }
  const remove = async (
    me: Me,
    id: string,
    selector: Partial<SelectMembersRequest>,
  ): Promise<RemoveMembersResponse> => {
    const answer = await lists.removeMembers(selected(id, selector), me)
    return answer.jobId === undefined ? answer : { removed: (await resultOf(me, answer.jobId)).removed! }
  }
  const members = (me: Me, id: string, query: object = {}) =>
    streamedJsonOf<Page<Contact>>(lists.listMembers({ id, list: query }, me))
  const eventsOf = async ({ caller }: Me, type = 'triggers.audience.added_to_list') => {
    const ofCaller = { 'event.organization': caller.organizationId }
    const entries = await audience.db.collection('outbox').find(ofCaller).sort({ _id: 1 }).toArray()
    return entries.flatMap(({ event }) => event as Event).filter(event => event.type === type)
  }

  describe('the record', () => {
    it('is made, read, updated and deleted, each with its event', async () => {
      const me = testCaller()
      const made = await create(me, { name: 'News', description: 'Weekly', tags: ['a', 'b', 'a'] })
      const { id, createdAt, updatedAt, ...rest } = made
      const createdBy = { kind: 'user', id: me.caller.userId, name: 'User One' }
      const counts = { memberCount: 0, activeCount: 0 }
      assert.deepEqual(rest, {
        _id: id,
        name: 'News',
        description: 'Weekly',
        tags: ['a', 'b'],
        archived: false,
        ...counts,
        createdBy,
      })
      assert.equal(createdAt, updatedAt)
      assert.deepEqual(await get(me, id), made)

      await lists.updateList({ id, name: 'Newest', archived: true, tags: [] }, me)
      const changed = await get(me, id)
      assert.deepEqual(
        [changed.name, changed.archived, changed.tags, changed.description],
        ['Newest', true, [], 'Weekly'],
      )
      assert.equal((await jsonOf<List>(lists.deleteList({ id }, me))).name, 'Newest')
      await assert.rejects(get(me, id), { code: 'list.not_found' })
      for (const type of ['list.created', 'list.updated', 'list.deleted'])
        assert.equal((await eventsOf(me, type)).length, 1, type)
      assert.deepEqual((await eventsOf(me, 'list.updated'))[0]?.data.changed, ['name', 'archived', 'tags'])
    })

    it('has a name that is unique in its organization, whatever its case, and free again afterwards', async () => {
      const me = testCaller()
      const { id } = await create(me, { name: 'News' })
      const other = await create(me, { name: 'Other' })
      await assert.rejects(create(me, { name: 'NEWS' }), { code: 'record.duplicate', path: 'name' })
      await assert.rejects(lists.updateList({ id: other.id, name: 'news' }, me), {
        code: 'record.duplicate',
        path: 'name',
      })
      await lists.updateList({ id, name: 'news' }, me)
      await lists.updateList({ id, name: 'Old' }, me)
      await create(me, { name: 'News' })
      await create(testCaller(), { name: 'News' })
      audience.uses.set(id, 'Spring')
      await assert.rejects(lists.deleteList({ id }, me), {
        code: 'list.in_use',
        message: 'the campaign "Spring" uses the list',
      })
      audience.uses.set(id, new AppError('service.unavailable'))
      await assert.rejects(lists.deleteList({ id }, me), { code: 'service.unavailable' })
      audience.uses.delete(id)
      await lists.deleteList({ id }, me)
      await create(me, { name: 'Old' })
    })

    it('is kept while a campaign uses a segment whose filter names it', async () => {
      const me = testCaller()
      const { id } = await create(me)
      const segments = audience.client('rollcall.audience.v1.Segments')
      const newSegment = (filter: Record<string, unknown>) =>
        jsonOf<{ id: string }>(segments.createSegment({ name: `${new Types.ObjectId()}`, filter, columns: [] }, me))
      const others = await newSegment({ lists: { $nin: [nobody] } })
      const segment = await newSegment({ $nor: [{ lists: { $in: [nobody, id.toUpperCase()] } }] })
      audience.uses.set(others.id, 'Autumn').set(segment.id, 'Spring')
      await assert.rejects(lists.deleteList({ id }, me), {
        code: 'list.in_use',
        message: 'the campaign "Spring" uses the list',
      })
      audience.uses.delete(segment.id)
      await lists.deleteList({ id }, me)
    })

    it('leaves no trace of a change that changes nothing', async () => {
      const me = testCaller()
      const made = await create(me, { name: 'News', tags: ['a'] })
      await lists.updateList({ id: made.id, name: 'News', tags: ['a'] }, me)
      assert.deepEqual(await get(me, made.id), made)
      assert.equal((await eventsOf(me, 'list.updated')).length, 0)
    })

    it('is filtered and sorted by every field', async () => {
      const me = testCaller()
      await create(me, { name: 'b' })
      await create(me, { name: 'A', tags: ['x'] })
      const names = async (query: object) =>
        (await streamedJsonOf<Page<List>>(lists.listLists({ list: query }, me))).docs.map(({ name }) => name)
      assert.deepEqual(await names({ sort: '{"name":1}' }), ['A', 'b'])
      assert.deepEqual(await names({ filter: '{"name":"a"}' }), ['A'])
      assert.deepEqual(await names({ filter: '{"tags":"x","memberCount":0}' }), ['A'])
    })

    it('is unknown to another organization', async () => {
      const [me, other] = [testCaller(), testCaller()]
      const { id } = await create(me)
      for (const attempt of [
        () => get(other, id),
        () => lists.updateList({ id, name: 'x' }, other),
        () => lists.deleteList({ id }, other),
        () => members(other, id),
        () => add(other, id, { emails: ['a@example.com'] }),
        () => add(other, id, { filter: {} }),
        () => remove(other, id, { filter: {} }),
      ])
        await assert.rejects(attempt(), { code: 'list.not_found', message: 'list not found' })
    })
  })

  describe('members', () => {
    it('are added and removed by id and by email, and counted', async () => {
      const me = testCaller()
      const { id } = await create(me)
      const one = await newContact(me, 'One@example.com')
      const two = await newContact(me, 'two@example.com', { unsubscribed: true })
      const { id: foreign } = await newContact(testCaller(), 'three@example.com')
      assert.deepEqual(await add(me, id, { contactIds: [one.id, one.id, nobody, foreign] }), {
        added: 1,
        alreadyMember: 0,
        notFound: 2,
      })
      assert.deepEqual(await add(me, id, { emails: ['ONE@example.com', 'two@example.com', 'nobody'] }), {
        added: 1,
        alreadyMember: 1,
        notFound: 1,
      })
      assert.deepEqual(await countsOf(me, id), [2, 1])
      assert.deepEqual((await members(me, id)).docs, [two, one], 'those added last first, as they were')
      assert.deepEqual(await remove(me, id, { emails: ['one@EXAMPLE.com', 'nobody'] }), { removed: 1 })
      assert.deepEqual(await remove(me, id, { contactIds: [one.id, two.id] }), { removed: 1 })
      assert.deepEqual(await countsOf(me, id), [0, 0])
      assert.deepEqual(await add(me, id, { emails: ['one@example.com'] }), { added: 1, alreadyMember: 0, notFound: 0 })
    })

    it('come with one event each, and again only after they had left', async () => {
      const me = testCaller()
      const { id } = await create(me)
      const contact = await newContact(me, 'one@example.com')
      const before = Date.now()
      await add(me, id, { contactIds: [contact.id] })
      await add(me, id, { filter: {} })
      const [event, ...more] = await eventsOf(me)
      assert.deepEqual(more, [])
      const { at, ...data } = event!.data
      assert.deepEqual(data, { contactId: contact.id, listId: id, source: 'api' })
      assert.ok(Date.parse(at as string) >= before)
      await remove(me, id, { contactIds: [contact.id] })
      await add(me, id, { emails: [contact.email] })
      assert.equal((await eventsOf(me)).length, 2)
    })

    it('are added once by many at once', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 50)
      const emails = Array.from({ length: 50 }, (_, index) => `c${index}@example.com`)
      const answers = await Promise.all([
        add(me, id, { emails }),
        add(me, id, { emails: emails.toReversed() }),
        add(me, id, { filter: {} }),
        add(me, id, { filter: { tags: 'ten' } }),
        ...emails.slice(0, 10).map(email => add(me, id, { emails: [email] })),
      ])
      assert.equal(
        answers.reduce((sum, { added }) => sum + added!, 0),
        50,
      )
      assert.deepEqual(await countsOf(me, id), [50, 50])
      assert.equal(new Set((await eventsOf(me)).map(({ data }) => data.contactId)).size, 50)
      assert.equal((await eventsOf(me)).length, 50)
    })

    it('are counted as active while neither blocked nor unsubscribed, and until they are deleted', async () => {
      const me = testCaller()
      const [first, second] = [await create(me), await create(me)]
      const { id } = await newContact(me, 'one@example.com')
      for (const list of [first, second]) await add(me, list.id, { contactIds: [id] })
      const both = async () => [await countsOf(me, first.id), await countsOf(me, second.id)]
      const { contacts } = audience
      const steps: [() => Promise<unknown>, number[]][] = [
        [() => contacts.blockContact({ id }, me), [1, 0]],
        [() => contacts.updateContact({ id, unsubscribed: true }, me), [1, 0]],
        [() => contacts.unblockContact({ id }, me), [1, 0]],
        [() => contacts.updateContact({ id, email: 'other@example.com', unsubscribed: false }, me), [1, 1]],
        [() => contacts.blockContact({ id, reason: 'once' }, me), [1, 0]],
        [() => contacts.blockContact({ id, reason: 'twice' }, me), [1, 0]],
        [() => contacts.unblockContact({ id }, me), [1, 1]],
        [() => contacts.deleteContact({ id }, me), [0, 0]],
      ]
      for (const [change, counts] of steps) {
        await change()
        assert.deepEqual(await both(), [counts, counts], String(change))
      }
    })

    it('are counted right when they are blocked while they join', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 30)
      const { docs } = await streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: { limit: 30 } }, me))
      await Promise.all([
        add(me, id, { filter: {} }),
        ...docs.slice(0, 10).map(contact => audience.contacts.blockContact({ id: contact.id }, me)),
        ...docs.slice(10, 15).map(contact => audience.contacts.deleteContact({ id: contact.id }, me)),
        add(me, id, { contactIds: docs.map(contact => contact.id) }),
      ])
      await add(me, id, { filter: {} })
      assert.deepEqual(await countsOf(me, id), [25, 15])
    })

    it('are counted again by the repair, which keeps correct counts', async t => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 3)
      await newContact(me, 'out@example.com', { unsubscribed: true })
      await add(me, id, { filter: {} })
      const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
      t.after(() => store.close())
      const data = { store, collections: collections(store), logger }
      assert.deepEqual(await repairListCounts(data), [])
      const _id = new Types.ObjectId(id)
      await audience.db.collection('lists').updateOne({ _id }, { $set: { memberCount: 7, activeCount: 7 } })
      assert.deepEqual(await repairListCounts(data), [{ list: id, was: [7, 7], is: [4, 3] }])
      assert.deepEqual(await countsOf(me, id), [4, 3])
    })

    it('are what a filter matches, however many there are', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, SEVERAL_STEPS)
      assert.deepEqual(await add(me, id, { filter: { tags: 'ten' } }), { added: 150, alreadyMember: 0, notFound: 0 })
      assert.deepEqual(await add(me, id, { filter: {} }), { added: 1350, alreadyMember: 150, notFound: 0 })
      assert.deepEqual(await countsOf(me, id), [1500, 1500])
      assert.equal((await eventsOf(me)).length, 1500)
      assert.deepEqual(await remove(me, id, { filter: { name: { $regex: '7$' } } }), { removed: 150 })
      assert.deepEqual(await remove(me, id, { filter: {} }), { removed: 1350 })
      assert.deepEqual(await countsOf(me, id), [0, 0])
    })

    it('are removed by a filter on their other lists', async () => {
      const me = testCaller()
      const [{ id }, other] = [await create(me), await create(me)]
      await newContacts(me, 4)
      await add(me, id, { filter: { name: { $ne: 'Contact 3' } } })
      await add(me, other.id, { emails: ['c0@example.com', 'c3@example.com'] })
      assert.deepEqual(await remove(me, id, { filter: { lists: other.id } }), { removed: 1 })
      assert.deepEqual(await countsOf(me, id), [2, 2])
      assert.deepEqual(await remove(me, id, { filter: { lists: { $in: [other.id] } } }), { removed: 0 })
      assert.deepEqual(await remove(me, id, { filter: { lists: { $nin: [other.id] } } }), { removed: 2 })
      assert.deepEqual(await countsOf(me, other.id), [2, 2])
    })

    it('come with a job if a filter takes longer than the request waits, whose result has the numbers', async t => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 3)
      const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
      t.after(() => store.close())
      const slowly = async (change: () => Promise<{ jobId?: string }>) => {
        const { promise: answered, resolve: release } = Promise.withResolvers<void>()
        const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
        const holding = store.transaction(async tx => {
          // The job changes the same contacts: it is retried until this transaction ends.
          const { contacts } = collections(store).of(me.caller.organizationId)
          await contacts.updateMany({}, { $inc: { looks: 1 } }, { tx, timestamps: false })
          lock()
          await answered
        })
        await locked
        const answer = await change()
        release()
        await holding
        assert.deepEqual(Object.keys(answer), ['jobId'])
        return resultOf(me, answer.jobId!)
      }
      const added = await slowly(() => lists.addMembers(selected(id, { filter: { name: { $ne: 'Contact 2' } } }), me))
      assert.deepEqual([added.added, added.alreadyMember, added.notFound, added.removed], [2, 0, 0, undefined])
      const again = await slowly(() => lists.addMembers(selected(id, { filter: {} }), me))
      assert.deepEqual([again.added, again.alreadyMember], [1, 2])
      const gone = await slowly(() => lists.removeMembers(selected(id, { filter: {} }), me))
      assert.deepEqual([gone.removed, gone.added], [3, undefined])
      assert.deepEqual(await countsOf(me, id), [0, 0])
    })

    it('are all added by many requests at once', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, SEVERAL_STEPS)
      const answers = await Promise.all([1, 2, 3].map(() => add(me, id, { filter: {} })))
      assert.equal(
        answers.reduce((sum, { added }) => sum + added!, 0),
        SEVERAL_STEPS,
      )
      assert.deepEqual(await countsOf(me, id), [SEVERAL_STEPS, SEVERAL_STEPS])
      assert.equal((await eventsOf(me)).length, SEVERAL_STEPS)
    })

    it('are named by exactly one selector, and a filter that is understood', async () => {
      const me = testCaller()
      const { id } = await create(me)
      for (const attempt of [add, remove]) {
        await assert.rejects(attempt(me, id, {}), { code: 'request.missing_field', path: 'contactIds' })
        const two = { emails: ['a@example.com'], filter: {} }
        await assert.rejects(attempt(me, id, two), { code: 'request.extra_field', path: 'filter' })
        await assert.rejects(attempt(me, id, { filter: { secret: 1 } }), {
          code: 'request.invalid_field',
          path: 'filter',
        })
      }
    })

    it('are refused by a filter that the database cannot run, once and for all', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 1)
      const filter = { tags: { $size: 1e300 } }
      for (const attempt of [add, remove])
        await assert.rejects(attempt({ ...me, deadline: Date.now() + 5000 } as Me, id, { filter }), {
          code: 'request.invalid_field',
          path: 'filter',
        })
    })

    it('do not come to an archived list, but can leave it', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 2)
      await add(me, id, { emails: ['c0@example.com'] })
      await lists.updateList({ id, archived: true }, me)
      const refusal = { code: 'list.archived', message: 'the list is archived' }
      for (const selector of [{ emails: ['c1@example.com'] }, { emails: ['c0@example.com'] }, { filter: {} }])
        await assert.rejects(add(me, id, selector), refusal)
      assert.deepEqual(await remove(me, id, { filter: {} }), { removed: 1 })
      await lists.updateList({ id, archived: false }, me)
      assert.equal((await add(me, id, { filter: {} })).added, 2)
    })

    it('are paged, filtered, sorted and streamed', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 25)
      await add(me, id, { filter: { name: { $ne: 'Contact 7' } } })
      const names = async (query: object) => (await members(me, id, query)).docs.map(({ name }) => name)
      const { totalDocs, docs } = await members(me, id, { page: 3 })
      assert.deepEqual([totalDocs, docs.length], [24, 4])
      assert.deepEqual(await names({ filter: '{"tags":"ten"}', sort: '{"name":1}' }), [
        'Contact 0',
        'Contact 10',
        'Contact 20',
      ])
      assert.deepEqual(await names({ filter: '{"name":"Contact 7"}' }), [])
      const all = await streamedJsonOf<Contact[]>(lists.listMembers({ id, list: { pagination: false } }, me))
      assert.equal(all.length, 24)
    })

    it('show in the lists and the timeline of the contact, also those of an import', async () => {
      const me = testCaller()
      const [first, second] = [await create(me, { name: 'First' }), await create(me, { name: 'Second' })]
      const row = { row: 1, email: 'one@example.com', name: '', attributes: {}, tags: [], clearTags: false }
      const jobId = String(new Types.ObjectId())
      const job = { jobId, number: 0, duplicateStrategy: 'update', tags: [] }
      await audience.batches.applyBatch({ ...job, listIds: [first.id], rows: [row] }, me)
      await add(me, second.id, { filter: {} })
      const { docs: contacts } = await streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: {} }, me))
      const { id } = contacts[0]!
      const listsOf = async (list: object = {}) =>
        (await streamedJsonOf<Page<Record<string, unknown>>>(audience.contacts.listContactLists({ id, list }, me))).docs
      const byUser = { kind: 'user', id: me.caller.userId, name: 'User One' }
      assert.deepEqual(
        (await listsOf()).map(({ list, source, addedBy }) => [list, source, addedBy]),
        [
          [{ _id: second.id, name: 'Second' }, 'api', byUser],
          [{ _id: first.id, name: 'First' }, 'import', { kind: 'import', id: jobId, name: 'CSV import' }],
        ],
      )
      assert.equal((await listsOf({ filter: JSON.stringify({ 'list._id': first.id, source: 'import' }) })).length, 1)
      const namesOf = async (list: object) => (await listsOf(list)).map(({ list }) => (list as { name: string }).name)
      assert.deepEqual(await namesOf({ filter: '{"list.name":"Second"}' }), ['Second'])
      assert.deepEqual(await namesOf({ sort: '{"list.name":1}' }), ['First', 'Second'])
      const typesOf = async () =>
        (
          await streamedJsonOf<Page<{ type: string; data: { list?: { name: string } } }>>(
            audience.contacts.listTimeline({ id }, me),
          )
        ).docs.map(({ type, data }) => [type, data.list?.name])
      for (let look = 0; look < 2; look++) {
        const types = await typesOf()
        assert.deepEqual(types[0], ['contact.added_to_list', 'Second'])
        assert.deepEqual(
          new Set(types.slice(1).map(String)),
          new Set(['contact.added_to_list,First', 'contact.created,']),
        )
      }
      await remove(me, first.id, { contactIds: [id] })
      await lists.deleteList({ id: second.id }, me)
      assert.deepEqual(await listsOf(), [])
      assert.deepEqual((await typesOf()).filter(([type]) => type === 'contact.removed_from_list').at(-1), [
        'contact.removed_from_list',
        'First',
      ])
    })

    it('stay contacts when their list is deleted', async () => {
      const me = testCaller()
      const { id } = await create(me)
      await newContacts(me, 3)
      await add(me, id, { filter: {} })
      await lists.deleteList({ id }, me)
      const left = () => audience.db.collection('memberships').countDocuments({ list: new Types.ObjectId(id) })
      await eventually('no membership is left', async () => (await left()) === 0)
      const { docs } = await streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: {} }, me))
      assert.equal(docs.length, 3)
    })
  })
})
