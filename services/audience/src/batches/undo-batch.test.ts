import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { topics } from '@rollcall/bus'
import type {
  ApplyBatchRequest,
  CreateAttributeRequest as Definition,
  ApplyBatchRequestRow as Row,
} from '@rollcall/protos/gen/audience-v1.ts'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
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

type Me = { caller: Caller }
type Contact = { id: string; email: string; name: string; tags: string[] } & Record<string, unknown>

const newId = () => String(new Types.ObjectId())
const row = (number: number, rest: Partial<Row> = {}): Row => ({
  row: number,
  email: `c${number}@example.com`,
  name: `Contact ${number}`,
  attributes: {},
  tags: [],
  clearTags: false,
  ...rest,
})

describe('batches with lists, tried and taken back', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const apply = (me: Me, rest: Partial<ApplyBatchRequest> & { rows: Row[] }) => {
    const request = { jobId: newId(), number: 0, duplicateStrategy: 'update', tags: [] }
    return audience.batches.applyBatch({ ...request, listIds: [], ...rest }, me)
  }
  const undo = (me: Me, jobId: string, number = 0) => audience.batches.undoBatch({ jobId, number }, me)
  const contacts = async (me: Me, query: object = {}) =>
    (await streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: query }, me))).docs
  const define = (me: Me, slug: string) =>
    audience.attributes.createAttribute({ name: slug, slug, type: 'string', options: [] }, me)
  /** Signs a person up for lists by a form. */
  const signUp = ({ caller }: Me, email: string, lists: string[]) => {
    const source = { collectionId: 'c'.repeat(24), entryId: 'e'.repeat(24), form: 'Newsletter' }
    const confirmation = { at: '2026-05-01T10:00:00.000Z', ip: '192.0.2.9', text: 'I agree' }
    const person = { email, name: '', attributes: {}, tags: [], lists, at: '2026-05-01T09:00:00.000Z', confirmation }
    return audience.signUps.applySignUp(
      { id: newId(), ...source, ...person },
      { caller: serviceCaller('content', caller.organizationId) },
    )
  }
  /** A list as it is stored. */
  const newList = async ({ caller }: Me, archived = false) => {
    const id = new Types.ObjectId()
    const list = {
      name: `List ${id}`,
      nameKey: `list ${id}`,
      description: '',
      tags: [],
      memberCount: 0,
      activeCount: 0,
    }
    const organization = new Types.ObjectId(caller.organizationId)
    await audience.db.collection('lists').insertOne({ _id: id, organization, ...list, archived })
    return String(id)
  }
  const countsOf = async (id: string) => {
    const list = await audience.db.collection('lists').findOne({ _id: new Types.ObjectId(id) })
    const members = await audience.db.collection('memberships').countDocuments({ list: new Types.ObjectId(id) })
    return [list?.memberCount, list?.activeCount, members]
  }
  const addedEvents = async (list: string) => {
    const entries = await audience.db.collection('outbox').find().toArray()
    return entries
      .flatMap(({ event }) => event as { type: string; data: { listId: string; contactId: string; source: string } })
      .filter(({ type, data }) => type === 'triggers.audience.added_to_list' && data.listId === list)
  }

  it('adds every contact to the lists, once, with one event each', async () => {
    const me = testCaller()
    const [list, other] = [await newList(me), await newList(me)]
    const first = { jobId: newId(), rows: [row(1), row(2, { unsubscribed: true })], listIds: [list] }
    assert.equal((await apply(me, first)).addedToLists, 2)
    assert.equal((await apply(me, first)).addedToLists, 2, 'the same batch again answers the same')
    assert.deepEqual(await countsOf(list), [2, 1, 2])

    const second = await apply(me, { rows: [row(1), row(2, { name: 'Two' }), row(3)], listIds: [list, other] })
    assert.deepEqual(second.outcomes, ['UNCHANGED', 'UPDATED', 'CREATED'])
    assert.equal(second.addedToLists, 1 + 3)
    assert.deepEqual(
      [await countsOf(list), await countsOf(other)],
      [
        [3, 2, 3],
        [3, 2, 3],
      ],
    )
    const events = await addedEvents(list)
    assert.equal(events.length, 3)
    assert.equal(new Set(events.map(({ data }) => data.contactId)).size, 3)
    assert.ok(events.every(({ data }) => data.source === 'import'))
  })

  it('adds known contacts to no list under skip, and nobody to one that is archived or gone', async () => {
    const me = testCaller()
    const [list, archived] = [await newList(me), await newList(me, true)]
    await apply(me, { rows: [row(1)] })
    const listIds = [list, archived, newId()]
    await apply(me, { rows: [row(1), row(2)], duplicateStrategy: 'skip', listIds })
    assert.deepEqual(
      [await countsOf(list), await countsOf(archived)],
      [
        [1, 1, 1],
        [0, 0, 0],
      ],
    )
    const foreign = await newList(testCaller())
    const checked = await audience.batches.checkLists({ listIds: [list, archived, foreign] }, me)
    assert.deepEqual(checked, { unknown: [foreign], archived: [archived] })
  })

  it('moves the active count with an opt-out that a row sets', async () => {
    const me = testCaller()
    const list = await newList(me)
    await apply(me, { rows: [row(1), row(2)], listIds: [list] })
    await apply(me, { rows: [row(1, { unsubscribed: true })] })
    assert.deepEqual(await countsOf(list), [2, 1, 2])
  })

  it('tries a batch without writing anything', async () => {
    const me = testCaller()
    const list = await newList(me)
    await define(me, 'city')
    await apply(me, { rows: [row(1, { tags: ['old'] })] })
    const before = await contacts(me)
    const rows = [
      row(1, { name: 'Changed' }),
      row(2, { attributes: { city: 'Oslo' } }),
      row(3, { email: 'nobody' }),
      row(4),
    ]
    const answer = await apply(me, { rows, tags: ['new'], listIds: [list], dryRun: true, previewRows: 2 })
    assert.deepEqual(answer.outcomes, ['UPDATED', 'CREATED', 'FAILED', 'CREATED'])
    assert.equal(answer.addedToLists, 3)
    assert.deepEqual(
      answer.previews.map(({ row, outcome, changes }) => [
        row,
        outcome,
        Object.fromEntries(changes.map(({ key, from, to }) => [key, [from, to]])),
      ]),
      [
        [1, 'UPDATED', { name: ['Contact 1', 'Changed'], tags: [['old'], ['old', 'new']] }],
        [
          2,
          'CREATED',
          {
            email: [null, 'c2@example.com'],
            name: [null, 'Contact 2'],
            tags: [null, ['new']],
            unsubscribed: [null, false],
            'attributes.city': [null, 'Oslo'],
          },
        ],
      ],
    )
    assert.deepEqual(await contacts(me), before)
    assert.deepEqual(await countsOf(list), [0, 0, 0])
  })

  it('shows an opt-out that outlived an erasure', async () => {
    const me = testCaller()
    const organization = new Types.ObjectId(me.caller.organizationId)
    const hash = addressHasher.hash('c1@example.com')
    await audience.db.collection('erased_addresses').insertOne({ organization, hash, at: new Date() })
    const rows = [row(1), row(2)]
    const { previews } = await apply(me, { rows, dryRun: true, previewRows: 2 })
    const optOuts = previews.map(({ changes }) => changes.find(({ key }) => key === 'unsubscribed')?.to)
    assert.deepEqual(optOuts, [true, false])
    await apply(me, { rows })
    const created = await contacts(me, { sort: '{"email":1}' })
    assert.deepEqual(
      created.map(({ unsubscribed }) => unsubscribed),
      optOuts,
    )
  })

  it('takes a batch back: created contacts go, fields, tags and memberships return', async () => {
    const me = testCaller()
    const list = await newList(me)
    await define(me, 'city')
    const former = newId()
    await apply(me, { jobId: former, rows: [row(1, { tags: ['old'] }), row(2)], listIds: [list] })
    const before = await contacts(me)
    const jobId = newId()
    const rows = [
      row(1, { name: 'Changed', attributes: { city: 'Oslo' }, unsubscribed: true }),
      row(2, { tags: ['more'] }),
      row(3, { unsubscribed: true }),
    ]
    const other = await newList(me)
    await apply(me, { jobId, rows, tags: ['new'], listIds: [list, other] })
    assert.deepEqual(
      [await countsOf(list), await countsOf(other)],
      [
        [3, 1, 3],
        [3, 1, 3],
      ],
    )

    const undone = { deleted: 1, restored: 2, kept: 0, removedFromLists: 2 }
    assert.deepEqual(await undo(me, jobId), undone)
    const withoutTime = (docs: Contact[]) => docs.map(({ updatedAt: _, ...rest }) => rest)
    assert.deepEqual(withoutTime(await contacts(me)), withoutTime(before))
    assert.deepEqual(
      [await countsOf(list), await countsOf(other)],
      [
        [2, 2, 2],
        [0, 0, 0],
      ],
    )
    assert.deepEqual(await undo(me, jobId), undone, 'once')
  })

  it('cancels a batch before it arrives', async () => {
    const me = testCaller()
    const jobId = newId()
    assert.deepEqual(await undo(me, jobId), { deleted: 0, restored: 0, kept: 0, removedFromLists: 0 })
    assert.deepEqual((await apply(me, { jobId, rows: [row(1)] })).outcomes, ['SKIPPED'])
    assert.deepEqual(await contacts(me), [])
  })

  it('keeps what somebody has changed since', async () => {
    const me = testCaller()
    await apply(me, { rows: [row(1, { tags: ['old'] }), row(2)] })
    const jobId = newId()
    const rows = [row(1, { name: 'Imported', tags: ['new'] }), row(2, { unsubscribed: true }), row(3), row(4)]
    await apply(me, { jobId, rows })
    const idOf = async (email: string) => (await contacts(me, { filter: JSON.stringify({ email }) }))[0]!.id
    const [one, two, three] = await Promise.all([1, 2, 3].map(number => idOf(`c${number}@example.com`)))
    await audience.contacts.updateContact({ id: one!, name: 'By hand' }, me)
    await audience.contacts.replaceTags({ id: one!, tags: ['old', 'new', 'by hand'] }, me)
    await audience.contacts.updateContact({ id: two!, unsubscribed: false }, me)
    await audience.contacts.updateContact({ id: two!, unsubscribed: true }, me)
    await audience.contacts.blockContact({ id: three! }, me)

    assert.deepEqual(await undo(me, jobId), { deleted: 1, restored: 1, kept: 2, removedFromLists: 0 })
    const left = new Map((await contacts(me)).map(contact => [contact.id, contact]))
    assert.equal(left.size, 3)
    assert.deepEqual([left.get(one!)?.name, left.get(one!)?.tags], ['By hand', ['old', 'by hand']])
    assert.equal(left.get(two!)?.unsubscribed, true, 'an opt-out of a later time is the person’s own')
  })

  it('brings back no value that its attribute does not take by now, and takes none that is required', async () => {
    const me = testCaller()
    const made: Record<string, string> = {}
    const define = async (slug: string, rest: Partial<Pick<Definition, 'type' | 'options'>> = {}) => {
      const request: Definition = { name: slug, slug, type: 'string', options: [], ...rest }
      made[slug] = (await jsonOf<{ id: string }>(audience.attributes.createAttribute(request, me))).id
    }
    for (const slug of ['gone', 'again', 'needed', 'plain']) await define(slug)
    await define('since', { type: 'date' })
    for (const slug of ['narrowed', 'wide']) await define(slug, { type: 'enum', options: ['a', 'b'] })
    const values = (attributes: Record<string, unknown>) => ({ attributes })
    const before = { gone: 'x', again: 'x', plain: 'x', since: '2020-02-02', narrowed: 'a', wide: 'a' }
    await apply(me, { rows: [row(1, values(before))] })
    const jobId = newId()
    const after = { gone: null, again: 'y', needed: 'y', plain: 'y', since: null, narrowed: 'b', wide: 'b' }
    await apply(me, { jobId, rows: [row(1, values(after))] })

    for (const slug of ['gone', 'again']) await audience.attributes.deleteAttribute({ id: made[slug]! }, me)
    await define('again')
    const [{ id }] = (await contacts(me)) as [Contact]
    await audience.contacts.updateAttributes({ id, attributes: { again: 'y' } }, me)
    await audience.attributes.updateAttribute({ id: made.needed!, required: true, options: [] }, me)
    await audience.attributes.updateAttribute({ id: made.narrowed!, options: ['b'] }, me)

    assert.deepEqual(await undo(me, jobId), { deleted: 0, restored: 1, kept: 0, removedFromLists: 0 })
    const [{ attributes }] = (await contacts(me)) as [Contact]
    const since = new Date('2020-02-02').toISOString()
    assert.deepEqual(attributes, { again: 'y', needed: 'y', plain: 'x', since, narrowed: 'b', wide: 'a' })
    const stored = await audience.db.collection('contacts').findOne({ _id: new Types.ObjectId(id) })
    assert.equal(stored?.attributes.gone, undefined)
  })

  for (const [who, say] of Object.entries({
    'the API': async (me: Me) => {
      for (const { id } of await contacts(me, { filter: '{"unsubscribed":true}' }))
        await audience.contacts.updateContact({ id, unsubscribed: true }, me)
    },
    'another import': async (me: Me) => {
      const rows = [1, 2, 3].map(number => row(number, { name: '', unsubscribed: true }))
      assert.deepEqual((await apply(me, { rows })).outcomes, ['UNCHANGED', 'UNCHANGED', 'UNCHANGED'])
    },
  }))
    it(`keeps opt-outs that ${who} has said too since, and the contacts that it made with one`, async () => {
      const me = testCaller()
      const list = await newList(me)
      await apply(me, { rows: [row(1), row(2)], listIds: [list] })
      const jobId = newId()
      const out = { unsubscribed: true }
      await apply(me, { jobId, rows: [row(1, out), row(2, { ...out, name: 'Two' }), row(3, out), row(4, out)] })
      await audience.contacts.deleteContact({ id: (await contacts(me, { filter: '{"name":"Contact 4"}' }))[0]!.id }, me)
      await apply(me, { jobId, number: 1, rows: [row(5, out)] })
      const before = await contacts(me, { sort: '{"email":1}' })
      const [five] = before.filter(({ name }) => name === 'Contact 5')
      await say(me)
      assert.deepEqual(await contacts(me, { sort: '{"email":1}' }), before, 'nobody sees it')
      assert.deepEqual(await undo(me, jobId), { deleted: 0, restored: 1, kept: 3, removedFromLists: 0 })
      const isSaid = who === 'the API'
      assert.equal((await undo(me, jobId, 1)).deleted, isSaid ? 0 : 1, 'said of those it was about')
      const left = (await contacts(me, { sort: '{"email":1}' })).filter(({ id }) => id !== five!.id)
      assert.deepEqual(
        left.map(({ name, unsubscribed }) => [name, unsubscribed]),
        [
          ['Contact 1', true],
          ['Contact 2', true],
          ['Contact 3', true],
        ],
      )
      assert.deepEqual(await countsOf(list), [2, 0, 2])
    })

  it('keeps contacts that another import has put on a list since', async () => {
    const me = testCaller()
    const list = await newList(me)
    const jobId = newId()
    await apply(me, { jobId, rows: [row(1), row(2)] })
    await apply(me, { rows: [row(2)], listIds: [list] })
    assert.deepEqual(await undo(me, jobId), { deleted: 1, restored: 0, kept: 1, removedFromLists: 0 })
    assert.deepEqual(await countsOf(list), [1, 1, 1])
  })

  it('keeps contacts that have signed up by a form since, on the lists of the form', async () => {
    const me = testCaller()
    const [list, other] = [await newList(me), await newList(me)]
    await apply(me, { rows: [row(1)] })
    const jobId = newId()
    await apply(me, { jobId, rows: [row(1), row(2), row(3)], listIds: [list, other] })
    for (const number of [1, 2]) await signUp(me, `c${number}@example.com`, [list])
    assert.deepEqual(await undo(me, jobId), { deleted: 1, restored: 0, kept: 1, removedFromLists: 2 })
    const kept = await contacts(me, { sort: '{"email":1}' })
    assert.deepEqual(
      kept.map(({ email }) => email),
      ['c1@example.com', 'c2@example.com'],
    )
    assert.deepEqual(
      [await countsOf(list), await countsOf(other)],
      [
        [2, 2, 2],
        [0, 0, 0],
      ],
    )
    const timeline = audience.contacts.listTimeline({ id: kept[1]!.id }, me)
    const { docs } = await streamedJsonOf<Page<{ type: string; data: { list?: { _id: string } } }>>(timeline)
    assert.deepEqual(docs.map(({ type, data }) => [type, data.list?._id]).sort(), [
      ['contact.added_to_list', list],
      ['contact.added_to_list', other],
      ['contact.created', undefined],
      ['contact.removed_from_list', other],
      ['form.confirmed', undefined],
    ])
  })

  it('takes contacts back that have only opened and clicked mail since', async () => {
    const me = testCaller()
    const jobId = newId()
    await apply(me, { jobId, rows: [row(1), row(2)] })
    const [one] = await contacts(me, { filter: '{"email":"c1@example.com"}' })
    const mail = { emailId: newId(), kind: 'campaign', subject: 'Hello', sender: 'news@example.com', to: one!.email }
    const events = ['sent', 'opened', 'clicked'].map((status, index): Event => {
      const at = new Date(Date.now() + index * 1000).toISOString()
      const data = { ...mail, contactId: one!.id, at }
      const { organizationId: organization } = me.caller
      const of = { source: 'messaging', subject: mail.emailId, organization }
      return { id: newId(), type: `email.${status}`, ...of, time: at, data }
    })
    await audience.publish(topics.messaging, events)
    const activities = () =>
      streamedJsonOf<Page<{ type: string }>>(audience.contacts.listActivities({ id: one!.id }, me))
    await eventually('the click is stored', async () => (await activities()).docs.length === 2)
    assert.deepEqual(await undo(me, jobId), { deleted: 2, restored: 0, kept: 0, removedFromLists: 0 })
  })

  it('brings back no value that the contact has no room for', async () => {
    const me = testCaller()
    const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const slug of slugs) await define(me, slug)
    const texts = (of: string[]) => Object.fromEntries(of.map(slug => [slug, 'x'.repeat(10_000)]))
    await apply(me, { rows: [row(1, { attributes: texts(slugs.slice(0, 6)) })] })
    const jobId = newId()
    await apply(me, { jobId, rows: [row(1, { name: 'Imported', attributes: { a: 'y' } })] })
    const [{ id }] = (await contacts(me)) as [Contact]
    await audience.contacts.updateAttributes({ id, attributes: texts(['g']) }, me)
    assert.deepEqual(await undo(me, jobId), { deleted: 0, restored: 1, kept: 0, removedFromLists: 0 })
    const [{ name, attributes }] = (await contacts(me)) as [Contact]
    assert.deepEqual([name, (attributes as Record<string, string>).a], ['Contact 1', 'y'])
  })

  it('takes contacts back that have only come to lists and left them since', async () => {
    const me = testCaller()
    const lists = audience.client('rollcall.audience.v1.Lists')
    const [list, other] = [await newList(me), await newList(me)]
    const jobId = newId()
    await apply(me, { jobId, rows: [row(1), row(2), row(3)], listIds: [list] })
    const members = { id: other, contactIds: [], emails: ['c1@example.com', 'c2@example.com'] }
    await lists.addMembers(members, me)
    await lists.removeMembers({ ...members, emails: ['c1@example.com'] }, me)
    await lists.deleteList({ id: list }, me)
    await eventually('the deleted list has no members', async () => (await countsOf(list))[2] === 0)
    assert.deepEqual(await undo(me, jobId), { deleted: 2, restored: 0, kept: 1, removedFromLists: 0 })
    assert.deepEqual(
      (await contacts(me)).map(({ email }) => email),
      ['c2@example.com'],
    )
  })

  it('takes contacts back that only an import has changed since which is taken back too', async () => {
    const me = testCaller()
    const list = await newList(me)
    const [first, second, third] = [newId(), newId(), newId()]
    const rows = [row(1), row(2), row(3), row(4)]
    await apply(me, { jobId: first, rows })
    await apply(me, {
      jobId: second,
      rows: [row(1, { name: 'One' }), row(2, { tags: ['more'] }), row(3, { name: 'Three' }), row(4)],
      listIds: [list],
    })
    const [three] = await contacts(me, { filter: '{"name":"Three"}' })
    await audience.contacts.updateContact({ id: three!.id, name: 'By hand' }, me)
    await apply(me, { jobId: third, rows: [row(2, { name: 'Two' })] })
    assert.deepEqual(await undo(me, second), { deleted: 0, restored: 2, kept: 1, removedFromLists: 4 })
    assert.deepEqual(await undo(me, first), { deleted: 2, restored: 0, kept: 2, removedFromLists: 0 })
    assert.deepEqual(
      (await contacts(me)).map(({ name }) => name),
      ['By hand', 'Two'],
    )
  })

  it('lets one of many at once take it back', async () => {
    const me = testCaller()
    const jobId = newId()
    await apply(me, { jobId, rows: Array.from({ length: 50 }, (_, index) => row(index + 1)) })
    const answers = await Promise.all(Array.from({ length: 5 }, () => undo(me, jobId)))
    assert.ok(answers.every(({ deleted }) => deleted === 50))
    assert.equal((await contacts(me)).length, 0)
  })
})
