import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CollectionJson, EntryJson, FieldDefinition } from '@rollcall/protos/gen/content-v1.ts'
import type { Events } from '@rollcall/protos/gen/events.ts'
import type { Client } from '@rollcall/rpc'
import type { FieldChange } from '@rollcall/store'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  refusalOf,
  startTestContent,
  streamedJsonOf,
  type TestContent,
  testCaller,
  textOf,
} from '../../test/content.ts'

type Values = Record<string, string | number | boolean | null>

const field = (slug: string, type: FieldDefinition['type'] = 'string', more: Partial<FieldDefinition> = {}) => ({
  slug,
  name: slug,
  type,
  ...more,
})

/** One field of each type. */
const everyType = [
  field('line'),
  field('lines', 'text'),
  field('count', 'number'),
  field('agreed', 'boolean'),
  field('day', 'date'),
  field('size', 'enum', { options: ['S', 'M'] }),
  field('mail', 'email'),
  field('site', 'url'),
]

describe('collections', () => {
  let content: TestContent
  let collections: Client<'rollcall.content.v1.Collections'>
  let entries: Client<'rollcall.content.v1.Entries'>
  before(async () => {
    content = await startTestContent()
    collections = content.client('rollcall.content.v1.Collections')
    entries = content.client('rollcall.content.v1.Entries')
  })
  after(() => content.stop())

  const me = testCaller()
  let number = 0
  const create = (fields: FieldDefinition[] = [field('line')], more: object = {}, caller = me) =>
    jsonOf<CollectionJson>(
      collections.createCollection({ name: 'Orders', slug: `orders-${number++}`, fields, ...more }, caller),
    )
  const get = ({ id }: { id: string }) => jsonOf<CollectionJson>(collections.getCollection({ id }, me))
  const update = ({ id }: { id: string }, changes: object) =>
    collections.updateCollection({ id, fields: [], ...changes }, me)
  const add = ({ id }: { id: string }, values: Values) => jsonOf<EntryJson>(entries.createEntry({ id, values }, me))
  const entry = ({ id, collection }: EntryJson) =>
    jsonOf<EntryJson>(entries.getEntry({ id: collection, entryId: id }, me))
  const change = ({ id, collection }: EntryJson, values: Values) =>
    entries.updateEntry({ id: collection, entryId: id, values }, me)
  const remove = ({ id, collection }: EntryJson) =>
    jsonOf<EntryJson>(entries.deleteEntry({ id: collection, entryId: id }, me))
  const list = ({ id }: { id: string }, query: object = {}) =>
    streamedJsonOf<Page<EntryJson>>(entries.listEntries({ id, list: query }, me))

  describe('definition', () => {
    it('publishes what happens to it, without its fields', async () => {
      const form = { title: 'Order', allowedOrigins: [] }
      const made = await create([field('line')], { form })
      await update(made, { name: 'Sales', fields: [field('line'), field('more')] })
      await update(made, { form: { ...form, redirectUrl: 'https://example.com/' } })
      await update(made, { name: 'Sales' })
      await collections.deleteCollection({ id: made.id }, me)
      const events = await content.eventsOf(made.id)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['collection.created', 'collection.updated', 'collection.updated', 'collection.deleted'],
      )
      assert.ok(!JSON.stringify(events).includes('"line"'))
      const [renamed, formed] = events.slice(1).map(({ data }) => data as unknown as Events['collection.updated'])
      assert.deepEqual([renamed!.changed, formed!.changed], [['name', 'fields'], ['form']])
      assert.deepEqual(renamed!.changes, { name: { from: 'Orders', to: 'Sales' } })
      const { from, to } = formed!.changes.form as FieldChange
      assert.deepEqual([from, to], [made.form, { ...made.form, redirectUrl: 'https://example.com/' }])
      assert.deepEqual(formed!.actor, made.createdBy)
    })

    it('is stored as given, with what was left out', async () => {
      const made = await create([field('size', 'enum', { options: ['S', 'M', 'S'], default: 'S' }), field('name')])
      assert.deepEqual(made.fields, [
        { slug: 'size', name: 'size', type: 'enum', required: false, default: 'S', options: ['S', 'M'], unique: false },
        { slug: 'name', name: 'name', type: 'string', required: false, default: null, options: [], unique: false },
      ])
      assert.deepEqual([made.entryCount, made.description, made.createdBy.name], [0, '', 'User One'])
      assert.deepEqual(await get(made), made)
    })

    it('refuses fields that contradict themselves', async () => {
      const refusals: [FieldDefinition[], string][] = [
        [[field('Line')], 'request.invalid_field fields.0.slug'],
        [[field('__proto__')], 'request.invalid_field fields.0.slug'],
        [[field('a'), field('a')], 'request.invalid_field fields.1.slug'],
        [[field('a', 'enum')], 'request.missing_field fields.0.options'],
        [[field('a', 'string', { options: ['x'] })], 'request.extra_field fields.0.options'],
        [[field('a', 'number', { default: 'x' })], 'request.invalid_field fields.0.default'],
        [[field('a', 'enum', { options: ['x'], default: 'y' })], 'request.invalid_field fields.0.default'],
        [[field('a', 'string', { default: [] })], 'request.invalid_field fields.0.default'],
        [[field('a', 'boolean', { unique: true })], 'request.invalid_field fields.0.unique'],
        [[field('a', 'string', { unique: true, default: 'x' })], 'request.invalid_field fields.0.default'],
      ]
      for (const [fields, refusal] of refusals) assert.equal(await refusalOf(create(fields)), refusal)
    })

    it('has a slug of its form, unique in the organization', async () => {
      for (const slug of ['a', '1ab', 'Ab', 'a_b', 'a'.repeat(41)])
        assert.equal(await refusalOf(create(undefined, { slug })), 'request.invalid_field slug', slug)
      const [one, other] = [await create(undefined, { slug: 'taken' }), await create()]
      assert.equal(await refusalOf(create(undefined, { slug: 'taken' })), 'record.duplicate slug')
      assert.equal(await refusalOf(update(other, { slug: 'taken' })), 'record.duplicate slug')
      await create(undefined, { slug: 'taken' }, testCaller())
      await update(one, { slug: 'renamed', name: 'New', description: 'D' })
      const { slug, name, description } = await get(one)
      assert.deepEqual([slug, name, description], ['renamed', 'New', 'D'])
      await create(undefined, { slug: 'taken' })
    })

    it('changes freely while there are no entries', async () => {
      const made = await create([field('a'), field('b')])
      await update(made, { fields: [field('b', 'number'), field('c', 'string', { required: true, unique: true })] })
      assert.deepEqual(
        (await get(made)).fields.map(({ slug, type }) => `${slug} ${type}`),
        ['b number', 'c string'],
      )
    })

    it('keeps the fields that entries have', async () => {
      const made = await create([field('a'), field('b', 'number')])
      await add(made, { a: 'x' })
      const refusals: [FieldDefinition[], string][] = [
        [[field('a')], 'collection.has_entries fields'],
        [[field('a'), field('b')], 'collection.has_entries fields.1.type'],
        [[field('a', 'string', { unique: true }), field('b', 'number')], 'collection.has_entries fields.0.unique'],
        [[field('a'), field('b', 'number', { required: true })], 'collection.has_entries fields.1.default'],
        [
          [field('a'), field('b', 'number'), field('c', 'string', { required: true })],
          'collection.has_entries fields.2.default',
        ],
      ]
      for (const [fields, refusal] of refusals) assert.equal(await refusalOf(update(made, { fields })), refusal)
      assert.deepEqual((await get(made)).fields, made.fields)
    })

    it('gives entries the default of a field that becomes required', async () => {
      const made = await create([field('a'), field('b', 'number')])
      const [one, two] = [await add(made, { a: 'x' }), await add(made, { a: 'y', b: 2 })]
      const fields = [
        field('a', 'string', { name: 'A' }),
        field('b', 'number', { required: true, default: 1 }),
        field('c', 'date', { required: true, default: '2026-01-01' }),
      ]
      await update(made, { fields })
      const day = '2026-01-01T00:00:00.000Z'
      assert.deepEqual((await entry(one)).values, { a: 'x', b: 1, c: day })
      assert.deepEqual((await entry(two)).values, { a: 'y', b: 2, c: day })
      assert.equal((await list(made, { filter: '{"values.c":"2026-01-01"}' })).totalDocs, 2)
    })

    it('does not change while an entry is written', async () => {
      for (let round = 0; round < 5; round++) {
        const made = await create([field('a')])
        const added = add(made, { a: 'text' }).then(() => 'added')
        const changed = update(made, { fields: [field('a', 'number')] }).then(() => 'changed')
        const [first, second] = await Promise.allSettled([added, changed])
        const { fields } = await get(made)
        const { docs } = await list(made)
        if (docs.length > 0) assert.equal(typeof docs[0]!.values.a === 'string', fields[0]!.type === 'string')
        assert.ok(first.status === 'fulfilled' || second.status === 'fulfilled')
      }
    })

    it('is one of as many as an organization may have', async t => {
      const other = testCaller()
      const first = await create(undefined, {}, other)
      t.mock.property(content.config, 'COLLECTIONS_PER_ORGANIZATION', 1)
      assert.equal(await refusalOf(create(undefined, {}, other)), 'quota.exceeded')
      await collections.deleteCollection({ id: first.id }, other)
      await create(undefined, {}, other)
    })

    it('is deleted with its entries', async () => {
      const made = await create([field('a', 'string', { unique: true })], { slug: 'short-lived' })
      const added = await add(made, { a: 'x' })
      const deleted = await jsonOf<CollectionJson>(collections.deleteCollection({ id: made.id }, me))
      assert.deepEqual([deleted.id, deleted.entryCount], [made.id, 1])
      assert.equal(await refusalOf(get(made)), 'collection.not_found')
      assert.equal(await refusalOf(update(made, { name: 'x' })), 'collection.not_found')
      assert.equal(await refusalOf(collections.deleteCollection({ id: made.id }, me)), 'collection.not_found')
      assert.equal(await refusalOf(entry(added)), 'collection.not_found')
      assert.equal(await refusalOf(add(made, { a: 'y' })), 'collection.not_found')
      await create(undefined, { slug: 'short-lived' })
      const parent = new Types.ObjectId(made.id)
      const left = async () => {
        const counts = ['entries', 'uniquevalues'].map(name => content.db.collection(name).countDocuments({ parent }))
        return [
          ...(await Promise.all(counts)),
          await content.db.collection('deletions').countDocuments({ _id: parent }),
        ]
      }
      const end = Date.now() + scaledTimeout(10_000)
      while (String(await left()) !== '0,0,0') {
        assert.ok(Date.now() < end, `left: ${await left()}`)
        await sleep(20)
      }
    })
  })

  describe('entries', () => {
    it('hold a value of each type', async () => {
      const made = await create(everyType)
      const values = {
        line: ' one ',
        lines: 'one\ntwo',
        count: -0,
        agreed: false,
        day: '2026-03-01T12:00:00+02:00',
        size: 'M',
        mail: 'Robin@EXAMPLE.com',
        site: 'https://example.com/a b',
      }
      const added = await add(made, values)
      const stored = { ...values, line: 'one', count: 0, day: '2026-03-01T10:00:00.000Z' }
      assert.deepEqual(added.values, stored)
      assert.deepEqual([added.collection, added.source, added.createdBy.name], [made.id, 'api', 'User One'])
      assert.deepEqual(await entry(added), added)
      assert.equal((await get(made)).entryCount, 1)
    })

    it('refuse values that do not fit their field, and change nothing then', async () => {
      const made = await create([...everyType, field('needed', 'string', { required: true })])
      const bad: [Values, string][] = [
        [{}, 'request.missing_field values.needed'],
        [{ needed: null }, 'request.missing_field values.needed'],
        [{ needed: '' }, 'request.invalid_field values.needed'],
        [{ needed: 'x', other: 1 }, 'request.extra_field values.other'],
        [{ needed: 'x', constructor: 1 }, 'request.extra_field values.constructor'],
        [{ needed: 'x', line: 'a\nb' }, 'request.invalid_field values.line'],
        [{ needed: 'x', line: 'a'.repeat(1001) }, 'request.invalid_field values.line'],
        [{ needed: 'x', lines: 1 }, 'request.invalid_field values.lines'],
        [{ needed: 'x', count: '1' }, 'request.invalid_field values.count'],
        [{ needed: 'x', agreed: 'true' }, 'request.invalid_field values.agreed'],
        [{ needed: 'x', day: 'tomorrow' }, 'request.invalid_field values.day'],
        [{ needed: 'x', size: 'L' }, 'request.invalid_field values.size'],
        [{ needed: 'x', mail: 'nobody' }, 'request.invalid_field values.mail'],
        [{ needed: 'x', site: 'javascript:alert(1)' }, 'request.invalid_field values.site'],
      ]
      for (const [values, refusal] of bad) assert.equal(await refusalOf(add(made, values)), refusal)
      assert.deepEqual([(await get(made)).entryCount, (await list(made)).totalDocs], [0, 0])
    })

    it('are as many as a collection may have', async t => {
      const made = await create()
      t.mock.property(content.config, 'ENTRIES_PER_COLLECTION', 1)
      const first = await add(made, { line: 'x' })
      assert.equal(await refusalOf(add(made, { line: 'y' })), 'quota.exceeded')
      assert.equal((await get(made)).entryCount, 1)
      await remove(first)
      await add(made, { line: 'y' })
    })

    it('are changed by merging; null removes', async () => {
      const made = await create([field('a'), field('b', 'number'), field('c', 'string', { required: true })])
      const added = await add(made, { a: 'x', b: 1, c: 'y' })
      await change(added, { a: null, b: 2 })
      const changed = await entry(added)
      assert.deepEqual(changed.values, { b: 2, c: 'y' })
      assert.equal(await refusalOf(change(added, { c: null })), 'request.missing_field values.c')
      assert.equal(await refusalOf(change(added, { b: 'x' })), 'request.invalid_field values.b')
      assert.equal(await refusalOf(change(added, { d: null })), 'request.extra_field values.d')
      await change(added, { b: 2 })
      assert.deepEqual(await entry(added), changed)
    })

    it('get defaults', async () => {
      const made = await create([field('a', 'string', { required: true, default: 'x' }), field('b')])
      assert.deepEqual((await add(made, {})).values, { a: 'x' })
      assert.deepEqual((await add(made, { a: null, b: 'y' })).values, { a: 'x', b: 'y' })
    })

    it('have unique values where their field says so', async () => {
      const made = await create([field('mail', 'email', { unique: true }), field('n', 'number', { unique: true })])
      const one = await add(made, { mail: 'a@example.com', n: 1 })
      assert.equal(await refusalOf(add(made, { mail: 'A@example.com' })), 'record.duplicate values.mail')
      assert.equal(await refusalOf(add(made, { mail: 'b@example.com', n: 1 })), 'record.duplicate values.n')
      const two = await add(made, { mail: 'b@example.com' })
      await add(made, {})
      assert.equal(await refusalOf(change(two, { n: 1 })), 'record.duplicate values.n')
      await change(one, { n: 2 })
      await change(two, { n: 1 })
      await change(two, { n: 1, mail: 'B@example.com' })
      await remove(one)
      await add(made, { mail: 'a@example.com', n: 2 })
      await add(await create([field('mail', 'email', { unique: true })]), { mail: 'a@example.com' })
      assert.equal((await get(made)).entryCount, 3)
    })

    it('give a unique value once to concurrent requests', async () => {
      const made = await create([field('code', 'string', { unique: true })])
      const added = await Promise.allSettled(Array.from({ length: 8 }, () => add(made, { code: 'same' })))
      assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.deepEqual([(await get(made)).entryCount, (await list(made)).totalDocs], [1, 1])
    })

    it('are listed by the shared parameters, by their values too', async () => {
      const made = await create([field('name'), field('n', 'number'), field('day', 'date')])
      for (const n of [3, 1, 2]) await add(made, { name: `entry ${n}`, n, day: `2026-01-0${n}` })
      const names = async (query: object) => (await list(made, query)).docs.map(({ values }) => values.name)
      assert.deepEqual(await names({}), ['entry 2', 'entry 1', 'entry 3'])
      const filtered = { filter: '{"values.n":{"$gte":2}}', sort: '{"values.n":-1}' }
      assert.deepEqual(await names(filtered), ['entry 3', 'entry 2'])
      assert.deepEqual(await names({ filter: '{"values":{"day":{"$lt":"2026-01-02"}}}' }), ['entry 1'])
      const { docs } = await list(made, { projection: '{"values.n":1}', limit: 1 })
      assert.deepEqual(docs, [{ _id: docs[0]!._id, id: docs[0]!._id, values: { n: 2 } }])
      assert.equal(await refusalOf(list(made, { filter: '{"values.other":1}' })), 'request.invalid_field filter')
      assert.equal(await refusalOf(list(made, { filter: '{"values.n":"x"}' })), 'request.invalid_field filter')
      assert.equal(await refusalOf(list(made, { sort: '{"values.other":1}' })), 'request.invalid_field sort')
    })

    it('are exported as CSV that no spreadsheet runs', async () => {
      const made = await create([field('name'), field('n', 'number')])
      const { id, createdAt } = await add(made, { name: '=1+1', n: -1 })
      await add(made, { name: 'a,"b"' })
      const csv = await textOf(entries.exportEntries({ id: made.id, sort: '{"createdAt":1}' }, me))
      assert.equal(csv.split('\r\n')[0], '\ufeffid,createdAt,name,n')
      assert.equal(csv.split('\r\n')[1], `${id},${createdAt},'=1+1,-1`)
      assert.match(csv, /,"a,""b""",\r\n$/)
      const some = await textOf(entries.exportEntries({ id: made.id, filter: '{"values.n":-1}' }, me))
      assert.equal(some.split('\r\n').length, 3)
    })

    it('publish what happens to them', async () => {
      const made = await create([field('a'), field('b')])
      const added = await add(made, { a: 'x' })
      await change(added, { a: 'y', b: 'z' })
      await change(added, { a: 'y' })
      await remove(added)
      const events = await content.eventsOf(added.id)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['collection.entry_created', 'collection.entry_updated', 'collection.entry_deleted'],
      )
      const { entry, changed, changes } = events[1]!.data as unknown as Events['collection.entry_updated']
      assert.deepEqual([entry.values, changed], [{ a: 'y', b: 'z' }, ['a', 'b']])
      assert.deepEqual(changes, { a: { from: 'x', to: 'y' }, b: { from: null, to: 'z' } })
    })

    it('belong to their organization and collection', async () => {
      const [made, other] = [await create(), await create()]
      const added = await add(made, { line: 'x' })
      const stranger = testCaller()
      const at = { id: made.id, entryId: added.id }
      assert.equal(await refusalOf(entries.getEntry({ ...at, id: other.id }, me)), 'entry.not_found')
      assert.equal(await refusalOf(entries.deleteEntry({ ...at, id: other.id }, me)), 'entry.not_found')
      assert.equal(await refusalOf(entries.updateEntry({ ...at, id: other.id, values: {} }, me)), 'entry.not_found')
      assert.equal(await refusalOf(entries.getEntry(at, stranger)), 'collection.not_found')
      assert.equal(await refusalOf(entries.deleteEntry(at, stranger)), 'collection.not_found')
      assert.equal(await refusalOf(entries.updateEntry({ ...at, values: {} }, stranger)), 'collection.not_found')
      assert.equal(await refusalOf(textOf(entries.listEntries({ id: made.id }, stranger))), 'collection.not_found')
      assert.equal((await get(other)).entryCount, 0)
      assert.equal((await get(made)).entryCount, 1)
    })
  })
})
