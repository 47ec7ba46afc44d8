import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import type { SegmentJson } from '@rollcall/protos/gen/audience-v1.ts'
import type { Caller, Client } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
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
type Contact = { email: string; name: string }

const nobody = String(new Types.ObjectId())

describe('segments', () => {
  let audience: TestAudience
  let segments: Client<'rollcall.audience.v1.Segments'>
  before(async () => {
    audience = await startTestAudience()
    segments = audience.client('rollcall.audience.v1.Segments')
  })
  after(() => audience.stop())

  const create = (me: Me, rest: object = {}) =>
    jsonOf<SegmentJson>(
      segments.createSegment({ name: `Segment ${new Types.ObjectId()}`, filter: {}, columns: [], ...rest }, me),
    )
  const get = (me: Me, id: string) => jsonOf<SegmentJson>(segments.getSegment({ id }, me))
  const list = (me: Me, query: object = {}) =>
    streamedJsonOf<Page<SegmentJson>>(segments.listSegments({ list: query }, me))
  const contactsOf = async (me: Me, id: string, query: object = {}) => {
    const page = await streamedJsonOf<Page<Contact>>(segments.listSegmentContacts({ id, list: query }, me))
    return page.docs.map(({ name }) => name).join('')
  }
  const newContacts = async (me: Me, names: string, rest: object = {}) => {
    for (const name of names)
      await audience.contacts.createContact({ email: `${name}@example.com`, name, tags: [], ...rest }, me)
  }
  const eventsOf = async ({ caller }: Me) => {
    const entries = await audience.db.collection('outbox').find().sort({ _id: 1 }).toArray()
    return entries
      .flatMap(({ event }) => event as Event)
      .filter(({ type, organization }) => type.startsWith('segment.') && organization === caller.organizationId)
  }

  it('are made, read, updated and deleted, each with its event', async () => {
    const me = testCaller()
    const filter = { $or: [{ tags: 'vip' }, { createdAt: { $gte: 'now-30d' } }], 'createdBy.kind': { $in: ['user'] } }
    const made = await create(me, {
      name: 'New',
      description: 'Of late',
      filter,
      sort: { email: 1 },
      columns: ['tags'],
    })
    assert.deepEqual(made.filter, filter)
    assert.deepEqual([made.sort, made.columns, made.createdBy.id], [{ email: 1 }, ['tags'], me.caller.userId])
    assert.deepEqual(await get(me, made.id), made)
    const plain = await create(me)
    assert.deepEqual([plain.description, plain.filter, plain.sort, plain.columns], ['', {}, {}, []])

    await segments.updateSegment({ id: made.id, filter: { tags: 'vip' }, sort: {}, columns: [] } as never, me)
    await segments.updateSegment({ id: made.id, filter: { tags: 'vip' } } as never, me) // changes nothing
    await segments.updateSegment({ id: made.id, name: 'Newest' } as never, me)
    const changed = await get(me, made.id)
    assert.deepEqual([changed.name, changed.filter, changed.sort, changed.columns], ['Newest', { tags: 'vip' }, {}, []])
    assert.deepEqual(changed.createdAt, made.createdAt)
    assert.deepEqual((await list(me, { filter: '{"name":"newest"}', sort: '{"name":1}' })).docs, [changed])
    assert.deepEqual(await jsonOf(segments.deleteSegment({ id: made.id }, me)), changed)
    await assert.rejects(get(me, made.id), { code: 'segment.not_found' })
    const published = (await eventsOf(me)).map(({ type, data }) => [type, (data as { changed?: string[] }).changed])
    assert.deepEqual(
      published.toSorted(),
      [
        ['segment.created', undefined],
        ['segment.created', undefined],
        ['segment.deleted', undefined],
        ['segment.updated', ['columns', 'filter', 'sort']],
        ['segment.updated', ['name']],
      ].toSorted(),
    )
  })

  it('have names that are unique in their organization, whatever their case', async () => {
    const me = testCaller()
    const { id } = await create(me, { name: 'Leads' })
    const other = await create(me, { name: 'Others' })
    const isTaken = { code: 'record.duplicate', path: 'name' }
    await assert.rejects(create(me, { name: 'LEADS' }), isTaken)
    await assert.rejects(segments.updateSegment({ id: other.id, name: 'leads' } as never, me), isTaken)
    await segments.updateSegment({ id, name: 'LEADS' } as never, me)
    await create(testCaller(), { name: 'Leads' })
    await segments.deleteSegment({ id }, me)
    await create(me, { name: 'leads' })
  })

  it('have a filter and an order that a list of contacts takes', async () => {
    const me = testCaller()
    const { id } = await create(me)
    const bad = [
      [{ filter: { secret: 1 } }, 'filter'],
      [{ filter: { $where: '1' } }, 'filter'],
      [{ filter: { createdAt: 'now-1y' } }, 'filter'],
      [{ filter: { 'attributes.unknown': 1 } }, 'filter'],
      [{ sort: { secret: 1 } }, 'sort'],
      [{ sort: { email: 2 } }, 'sort'],
    ] as const
    for (const [change, path] of bad) {
      await assert.rejects(create(me, change), { code: 'request.invalid_field', path })
      await assert.rejects(segments.updateSegment({ id, ...change } as never, me), {
        code: 'request.invalid_field',
        path,
      })
    }
    assert.equal((await list(me)).totalDocs, 1)
  })

  it('have the contacts that match now, in their order, narrowed as every list', async () => {
    const me = testCaller()
    await newContacts(me, 'bdca', { tags: ['vip'] })
    await newContacts(me, 'e')
    const { id } = await create(me, { filter: { tags: 'vip' }, sort: { name: 1 } })
    assert.equal(await contactsOf(me, id), 'abcd')
    assert.equal(await contactsOf(me, id, { sort: '{"name":-1}', limit: 2, page: 2 }), 'ba')
    assert.equal(await contactsOf(me, id, { filter: '{"name":{"$in":["a","e"]}}' }), 'a')
    assert.equal(await contactsOf(me, id, { filter: '{"tags":"none"}' }), '')
    const all = await streamedJsonOf<Contact[]>(segments.listSegmentContacts({ id, list: { pagination: false } }, me))
    assert.equal(all.length, 4)
    const byAge = await create(me, { filter: { tags: 'vip' } })
    assert.equal(await contactsOf(me, byAge.id), 'acdb')
    assert.equal(await contactsOf(me, byAge.id, { filter: '{"name":{"$ne":"c"}}', limit: 2 }), 'ad')
    assert.deepEqual(await segments.countSegment({ id }, me), { count: 4 })
    await newContacts(me, 'f', { tags: ['vip'] })
    assert.deepEqual(await segments.countSegment({ id }, me), { count: 5 })
    const everyone = await create(me)
    assert.deepEqual(await segments.countSegment({ id: everyone.id }, me), { count: 6 })
    assert.equal(await contactsOf(me, everyone.id, { limit: 2 }), 'fe')
    const recent = await create(me, { filter: { createdAt: { $gt: 'now-1h', $lte: 'now' } } })
    assert.deepEqual(await segments.countSegment({ id: recent.id }, me), { count: 6 })
    await assert.rejects(contactsOf(me, id, { filter: '{"secret":1}' }), {
      code: 'request.invalid_field',
      path: 'filter',
    })
  })

  it('say what is gone when they no longer apply', async () => {
    const me = testCaller()
    const { attributes } = audience
    const plan = { name: 'Plan', slug: 'plan', type: 'string' as const, options: [] }
    const attribute = await jsonOf<{ id: string }>(attributes.createAttribute(plan, me))
    const filtered = await create(me, { filter: { 'attributes.plan': 'pro' } })
    const sorted = await create(me, { sort: { 'attributes.plan': 1 } })
    await attributes.deleteAttribute({ id: attribute.id }, me)
    for (const { id } of [filtered, sorted]) {
      const isOutdated = { code: 'segment.outdated', message: /attributes.plan is not a field/ }
      await assert.rejects(contactsOf(me, id), isOutdated)
      await assert.rejects(segments.countSegment({ id }, me), isOutdated)
      await get(me, id)
    }
    await segments.updateSegment({ id: filtered.id, filter: {} } as never, me)
    assert.equal(await contactsOf(me, filtered.id), '')
  })

  it('are kept while a campaign uses them, or while campaigns cannot be asked', async () => {
    const me = testCaller()
    const { id } = await create(me)
    audience.uses.set(id, 'Spring')
    const remove = () => segments.deleteSegment({ id }, me)
    await assert.rejects(remove(), { code: 'segment.in_use', message: 'the campaign "Spring" uses the segment' })
    audience.uses.set(id, new AppError('service.unavailable'))
    await assert.rejects(remove(), { code: 'service.unavailable' })
    await get(me, id)
    audience.uses.delete(id)
    await remove()
  })

  it('are unknown to another organization', async () => {
    const [mine, theirs] = [testCaller(), testCaller()]
    const { id } = await create(mine)
    const attempts = [
      () => get(theirs, id),
      () => segments.updateSegment({ id, name: 'Theirs' } as never, theirs),
      () => segments.deleteSegment({ id }, theirs),
      () => contactsOf(theirs, id),
      () => segments.countSegment({ id }, theirs),
      () => get(mine, nobody),
    ]
    for (const attempt of attempts) await assert.rejects(async () => attempt(), { code: 'segment.not_found' })
    assert.deepEqual((await list(theirs)).docs, [])
    assert.equal((await get(mine, id)).name.startsWith('Segment'), true)
  })
})
