import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CreateAttributeRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { actorOf, type Caller } from '@rollcall/rpc'
import { createLogger, createMetrics, pause } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { type ClientSession, Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'
import { collections } from '../collections.ts'
import { changeAll } from '../contacts/change-contact.ts'
import { contactPositions } from '../contacts/contact.model.ts'
import type { Attribute } from './attribute.model.ts'
import { readDefinitions } from './definitions.ts'
import { dropValues, dropValuesJob } from './drop-values.job.ts'

type Me = { caller: Caller }
type Shown = { id: string; slug: string; options: string[] } & Record<string, unknown>

describe('attributes', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const create = (me: Me, request: Partial<CreateAttributeRequest>) =>
    jsonOf<Shown>(
      audience.attributes.createAttribute({ name: 'Any', slug: 'any', type: 'string', options: [], ...request }, me),
    )
  const list = (me: Me, query = {}) =>
    streamedJsonOf<Page<Shown>>(audience.attributes.listAttributes({ list: query }, me))
  const contactWith = async (me: Me, email: string, attributes: Record<string, string | number | boolean>) => {
    const body = audience.contacts.createContact({ email, tags: [], attributes }, me)
    return (await jsonOf<{ id: string }>(body)).id
  }
  const attributesOf = async (me: Me, id: string) =>
    (await jsonOf<{ attributes: object }>(audience.contacts.getContact({ id }, me))).attributes

  /** The job of another replica. */
  const ownData = async () => {
    const logger = createLogger({ service: 'audience', level: 'silent' })
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    return { store, collections: collections(store), logger }
  }

  it('defines, lists and describes', async () => {
    const me = testCaller()
    const created = await create(me, { name: 'Plan', slug: 'plan', type: 'enum', options: ['free', 'paid', 'free'] })
    const { id, createdAt, updatedAt, ...rest } = created
    assert.deepEqual(rest, {
      _id: id,
      name: 'Plan',
      slug: 'plan',
      type: 'enum',
      options: ['free', 'paid'],
      required: false,
      createdBy: { kind: 'user', id: me.caller.userId, name: 'User One' },
    })
    assert.equal(createdAt, updatedAt)
    await create(me, { name: 'City', slug: 'city', required: true })
    const { docs, totalDocs } = await list(me)
    assert.deepEqual([docs.map(({ slug }) => slug), totalDocs], [['city', 'plan'], 2])
    assert.deepEqual((await list(me, { filter: '{"type":"enum"}' })).docs, [created])
    const { definitions } = await audience.attributes.describeAttributes({}, me)
    assert.deepEqual(definitions, [
      { slug: 'plan', type: 'enum', options: ['free', 'paid'], required: false },
      { slug: 'city', type: 'string', options: [], required: true },
    ])
  })

  it('refuses slugs that are malformed or mean something else', async () => {
    const me = testCaller()
    const taken = ['email', 'name', 'tags', 'unsubscribed', 'createdat', 'blockedreason', 'id', 'attributes']
    for (const slug of ['Company', '1st', '_row', 'a-b', 'a.b', '$a', 'a'.repeat(41), '__proto__', ...taken]) {
      await assert.rejects(create(me, { slug }), { code: 'request.invalid_field', path: 'slug' }, slug)
    }
    await create(me, { slug: `a${'_9'.repeat(19)}b` })
  })

  it('takes a slug once in an organization', async () => {
    const me = testCaller()
    await create(me, { slug: 'city' })
    await assert.rejects(create(me, { slug: 'city', type: 'number' }), { code: 'record.duplicate', path: 'slug' })
    await create(testCaller(), { slug: 'city' })
  })

  it('wants options of an enum, and of nothing else', async () => {
    const me = testCaller()
    await assert.rejects(create(me, { type: 'enum' }), { code: 'request.missing_field', path: 'options' })
    await assert.rejects(create(me, { options: ['a'] }), { code: 'request.extra_field', path: 'options' })
    const { id } = await create(me, { slug: 'city' })
    const update = audience.attributes.updateAttribute({ id, options: ['a'] }, me)
    await assert.rejects(update, { code: 'request.extra_field', path: 'options' })
  })

  it('updates name, options and required', async () => {
    const me = testCaller()
    const { id } = await create(me, { slug: 'plan', type: 'enum', options: ['free'] })
    const answer = await audience.attributes.updateAttribute({ id, name: 'Plan', options: ['paid', 'paid'] }, me)
    assert.deepEqual(answer, { success: true, message: 'updated' })
    await audience.attributes.updateAttribute({ id, options: [], required: true }, me)
    const { name, options, required, slug, type } = (await list(me)).docs[0]!
    assert.deepEqual([name, options, required, slug, type], ['Plan', ['paid'], true, 'plan', 'enum'])
    await assert.rejects(contactWith(me, 'a@example.com', { plan: 'free' }), { path: 'attributes.plan' })
    await contactWith(me, 'a@example.com', { plan: 'paid' })
  })

  it('keeps organizations apart', async () => {
    const [me, stranger] = [testCaller(), testCaller()]
    const { id } = await create(me, { slug: 'city' })
    const notFound = { code: 'attribute.not_found', message: 'attribute not found' }
    await assert.rejects(audience.attributes.updateAttribute({ id, name: 'X', options: [] }, stranger), notFound)
    await assert.rejects(audience.attributes.deleteAttribute({ id }, stranger), notFound)
    assert.equal((await list(stranger)).totalDocs, 0)
    const unknown = String(new Types.ObjectId())
    await assert.rejects(audience.attributes.deleteAttribute({ id: unknown }, me), notFound)
  })

  it('deletes with all values; history stays, and the slug is free for another type', async () => {
    const me = testCaller()
    const definition = await create(me, { slug: 'city' })
    await create(me, { slug: 'age', type: 'number' })
    const id = await contactWith(me, 'a@example.com', { city: 'Oslo', age: 1 })
    await audience.contacts.updateAttributes({ id, attributes: { city: 'Bergen' } }, me)
    const answer = await jsonOf<Shown>(audience.attributes.deleteAttribute({ id: definition.id }, me))
    assert.deepEqual(answer, definition)
    assert.deepEqual(await attributesOf(me, id), { age: 1 })
    assert.deepEqual(
      (await list(me)).docs.map(({ slug }) => slug),
      ['age'],
    )
    assert.equal((await audience.attributes.describeAttributes({}, me)).definitions.length, 1)
    await assert.rejects(audience.attributes.deleteAttribute({ id: definition.id }, me), {
      code: 'attribute.not_found',
    })
    await assert.rejects(audience.contacts.updateAttributes({ id, attributes: { city: 'Oslo' } }, me), {
      code: 'request.extra_field',
    })
    const history = audience.contacts.listAttributesHistory({ id }, me)
    assert.equal((await streamedJsonOf<Page<object>>(history)).totalDocs, 1)

    await create(me, { slug: 'city', type: 'number' })
    await audience.contacts.updateAttributes({ id, attributes: { city: 5 } }, me)
    assert.deepEqual(await attributesOf(me, id), { age: 1, city: 5 })
  })

  describe('deleted while somebody who knew it is at work', () => {
    /** A definition, a contact without a value, and a function that writes one in a transaction, as every writer does. */
    const atWork = async () => {
      const me = testCaller()
      const { organizationId } = me.caller
      const { id } = await create(me, { slug: 'city' })
      const contact = await contactWith(me, 'a@example.com', {})
      const data = await ownData()
      const { attributes, contacts } = data.collections.of(me.caller.organizationId)
      const isKnown = async (tx: ClientSession) => (await readDefinitions(attributes, tx)).has('city')
      const request = {
        organizationId,
        id: contact,
        type: 'contact.updated',
        actor: actorOf(me.caller),
        patch: { 'attributes.city': 'Oslo' },
      } as const
      const change = changeAll(data)
      const writers = {
        'a change': async (tx: ClientSession) => {
          if (await isKnown(tx)) await change(tx, [request], organizationId)
        },
        'a batch of an import': async (tx: ClientSession) => {
          await contactPositions(data, organizationId).lockMembership(tx)
          if (await isKnown(tx))
            await contacts.updateOne({ _id: contact }, { $set: { 'attributes.city': 'Oslo' } }, { tx })
        },
      }
      const gone = () => eventually('the attribute is gone', async () => (await attributes.count({ _id: id })) === 0)
      const remove = () => audience.attributes.deleteAttribute({ id }, me)
      const values = () => attributesOf(me, contact)
      return { store: data.store, writers, isKnown, remove, gone, values }
    }

    for (const writer of ['a change', 'a batch of an import'] as const) {
      it(`leaves no value of ${writer} that ends later`, async () => {
        const { store, writers, remove, gone, values } = await atWork()
        const { promise: written, resolve } = Promise.withResolvers<void>()
        const late = store.transaction(async tx => {
          await writers[writer](tx)
          resolve()
          await pause(2000)
        })
        await written
        await Promise.all([remove(), late])
        await gone()
        assert.deepEqual(await values(), {})
        await store.close()
      })

      it(`leaves no value of ${writer} that has read it, and writes later`, async () => {
        const { store, writers, isKnown, remove, gone, values } = await atWork()
        let removed: Promise<unknown> | undefined
        await store.transaction(async tx => {
          await isKnown(tx)
          removed ??= remove().then(gone)
          await removed
          await writers[writer](tx)
        })
        assert.deepEqual(await values(), {})
        await store.close()
      })
    }
  })

  it('never takes a value of a later definition for one of its own', async () => {
    const me = testCaller()
    const { id } = await create(me, { slug: 'city' })
    const contact = await contactWith(me, 'a@example.com', { city: 'Oslo' })
    await audience.attributes.deleteAttribute({ id }, me)
    await create(me, { slug: 'city' })
    await audience.contacts.updateAttributes({ id: contact, attributes: { city: 'Bergen' } }, me)
    // A replica that was suspended meanwhile and still uses the definition it read.
    const data = await ownData()
    const organization = new Types.ObjectId(me.caller.organizationId)
    const known = { _id: new Types.ObjectId(id), organization, slug: 'city' } as Attribute
    await dropValues(data, known, { signal: new AbortController().signal, fence: async () => {} })
    assert.deepEqual(await attributesOf(me, contact), { city: 'Bergen' })
    await data.store.close()
  })

  it('goes on at the next start with what a stop left half deleted', async () => {
    const me = testCaller()
    const { id } = await create(me, { slug: 'city' })
    const contacts = await Promise.all(
      Array.from({ length: 30 }, (_, index) => contactWith(me, `c${index}@example.com`, { city: 'Oslo' })),
    )
    // The state that a process killed after its first write leaves.
    await audience.db.collection('attributes').updateOne({ _id: new Types.ObjectId(id) }, { $set: { deleting: true } })
    const data = await ownData()
    const { store, collections, logger } = data
    const dropper = dropValuesJob(data)
    dropper.start({ logger, metrics: createMetrics('test') })
    assert.ok(await dropper.dropped(me.caller.organizationId, 'city'))
    for (const contact of contacts) assert.deepEqual(await attributesOf(me, contact), {})
    assert.equal(await collections.unscoped.attributes.countDocuments({ _id: id }), 0)
    await dropper.stop()
    await store.close()
  })
})
