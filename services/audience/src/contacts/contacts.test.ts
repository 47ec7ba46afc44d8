import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CreateContactRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { createLogger, type Event } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
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
import { contactCreator } from './create-contact.ts'

type Contact = {
  id: string
  email: string
  name: string
  attributes: Record<string, unknown>
  tags: string[]
} & Record<string, unknown>
type Me = { caller: Caller }
type Entry = { type: string; data: { changes?: { key: string; from: unknown; to: unknown }[] } }

const nobody = String(new Types.ObjectId())

describe('contacts', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const create = (me: Me, request: Partial<CreateContactRequest> & { email: string }) =>
    jsonOf<Contact>(audience.contacts.createContact({ tags: [], ...request }, me))
  const get = (me: Me, id: string) => jsonOf<Contact>(audience.contacts.getContact({ id }, me))
  const list = (me: Me, query: object = {}) =>
    streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: query }, me))
  const emailsOf = async (me: Me, query: object) => (await list(me, query)).docs.map(({ email }) => email)
  const timeline = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<Entry>>(audience.contacts.listTimeline({ id, list: { limit: 100 } }, me))).docs
  const define = (me: Me, definition: { slug: string; type: string; options?: string[]; required?: boolean }) =>
    audience.attributes.createAttribute({ name: definition.slug, options: [], ...definition } as never, me)
  const eventsOf = async (id: string) => {
    const entries = await audience.db.collection('outbox').find({ 'event.subject': id }).sort({ _id: 1 }).toArray()
    return entries.flatMap(({ event }) => event as Event | Event[])
  }
  /** The traces of a change: types of the history entries, then of the events, oldest first. */
  const traces = async (me: Me, id: string) => [
    (await timeline(me, id)).map(({ type }) => type).reverse(),
    (await eventsOf(id)).map(({ type }) => type),
  ]

  describe('create', () => {
    it('meets conflicts with its first command, and commits nothing for a duplicate', async () => {
      const url = new URL(process.env.MONGODB_URL!)
      url.searchParams.set('monitorCommands', 'true')
      const logger = createLogger({ service: 'audience', level: 'silent' })
      const store = await connectStore({ url: url.href, dbName: audience.db.databaseName, logger })
      const commands: Record<string, unknown>[] = []
      store.connection.getClient().on('commandStarted', ({ command }) => commands.push(command))
      const createContact = contactCreator({ store, logger, collections: collections(store), addressHasher })
      const call = { ...testCaller(), deadline: Date.now() + 10_000 } as Call
      const email = 'one@example.com'
      await createContact({ email, tags: [] } as never, call)
      await assert.rejects(createContact({ email, tags: [] } as never, call), { code: 'record.duplicate' })
      const begun = commands.filter(({ startTransaction }) => startTransaction)
      assert.deepEqual(
        begun.map(({ findAndModify }) => findAndModify),
        ['positions', 'positions'],
      )
      assert.equal(commands.filter(({ commitTransaction }) => commitTransaction).length, 1)
      await store.close()
    })

    it('answers the whole record', async () => {
      const me = testCaller()
      await define(me, { slug: 'since', type: 'date' })
      const created = await create(me, {
        email: 'One@Example.com',
        name: 'Contact One',
        attributes: { since: '2024-05-01' },
        tags: ['b', 'a', 'b'],
        unsubscribed: true,
      })
      const { id, createdAt, updatedAt, unsubscribedAt, ...rest } = created
      assert.deepEqual(rest, {
        _id: id,
        email: 'One@Example.com',
        name: 'Contact One',
        attributes: { since: '2024-05-01T00:00:00.000Z' },
        tags: ['b', 'a'],
        unsubscribed: true,
        blocked: false,
        blockedAt: null,
        blockedReason: null,
        user: null,
        source: 'api',
        importJob: null,
        emailStatus: 'unknown',
        createdBy: { kind: 'user', id: me.caller.userId, name: 'User One' },
      })
      assert.equal(createdAt, updatedAt)
      assert.equal(createdAt, unsubscribedAt)
      assert.deepEqual(await get(me, id), created)
      assert.deepEqual(await traces(me, id), [['contact.created'], ['contact.created']])
      const [event] = JSON.parse(JSON.stringify(await eventsOf(id))) as Event[]
      assert.deepEqual(event?.data.contact, created)
    })

    it('refuses an email that is known, whatever its case', async () => {
      const me = testCaller()
      await create(me, { email: 'one@example.com' })
      await assert.rejects(create(me, { email: 'ONE@example.com' }), { code: 'record.duplicate', path: 'email' })
      await create(testCaller(), { email: 'one@example.com' })
    })

    it('lets one of many at once win', async () => {
      const me = testCaller()
      const requests = Array.from({ length: 40 }, (_, index) => create(me, { email: `c${index % 10}@example.com` }))
      const results = await Promise.allSettled(requests)
      const refusals = results.filter(result => result.status === 'rejected')
      assert.equal(refusals.length, 30)
      assert.ok(refusals.every(({ reason }) => reason.code === 'record.duplicate'))
      const { docs, totalDocs } = await list(me, { limit: 100 })
      assert.deepEqual([docs.length, totalDocs], [10, 10])
    })

    it('judges attributes: missing first, then unknown, then wrong', async () => {
      const me = testCaller()
      await define(me, { slug: 'city', type: 'string', required: true })
      await define(me, { slug: 'age', type: 'number' })
      const attempt = (attributes: Record<string, string | number | null>) =>
        create(me, { email: 'x@example.com', attributes })
      const refusal = (code: string, slug: string) => ({ code, path: `attributes.${slug}` })
      await assert.rejects(attempt({ other: 1, age: 'x' }), refusal('request.missing_field', 'city'))
      await assert.rejects(attempt({ city: null, age: 1 }), refusal('request.missing_field', 'city'))
      await assert.rejects(attempt({ city: 'Oslo', age: 'x', other: 1 }), refusal('request.extra_field', 'other'))
      await assert.rejects(attempt({ city: 'Oslo', age: 'x' }), refusal('request.invalid_field', 'age'))
      assert.equal((await list(me)).totalDocs, 0)
      assert.deepEqual(
        (await create(me, { email: 'x@example.com', attributes: { city: 'Oslo', age: null } })).attributes,
        {
          city: 'Oslo',
        },
      )
    })
  })

  describe('update', () => {
    it('changes fields with entry and event', async () => {
      const me = testCaller()
      const { id } = await create(me, { email: 'one@example.com', name: 'One' })
      const answer = await audience.contacts.updateContact({ id, name: 'Two', unsubscribed: true }, me)
      assert.deepEqual(answer, { success: true, message: 'updated' })
      const changed = await get(me, id)
      assert.equal(changed.name, 'Two')
      assert.equal(changed.unsubscribed, true)
      assert.equal(changed.unsubscribedAt, changed.updatedAt)
      assert.deepEqual((await timeline(me, id))[0]?.data.changes, [
        { key: 'name', from: 'One', to: 'Two' },
        { key: 'unsubscribed', from: false, to: true },
      ])
      const { data } = (await eventsOf(id))[1]!
      assert.deepEqual(data, {
        contactId: id,
        changed: ['name', 'unsubscribed'],
        changes: { name: { from: 'One', to: 'Two' }, unsubscribed: { from: false, to: true } },
        actor: { kind: 'user', id: me.caller.userId, name: 'User One' },
      })
      await audience.contacts.updateContact({ id, unsubscribed: false }, me)
      assert.equal((await get(me, id)).unsubscribedAt, null)
    })

    it('leaves no trace where nothing changes', async () => {
      const me = testCaller()
      const created = await create(me, { email: 'one@example.com', name: 'One', tags: ['a', 'b'] })
      const { id } = created
      const answers = await Promise.all([
        audience.contacts.updateContact({ id, email: 'one@example.com', name: 'One', unsubscribed: false }, me),
        audience.contacts.replaceTags({ id, tags: ['a', 'b', 'a'] }, me),
        audience.contacts.updateAttributes({ id, attributes: {} }, me),
        audience.contacts.unblockContact({ id }, me),
      ])
      assert.ok(answers.every(({ message }) => message === 'updated'))
      assert.deepEqual(await get(me, id), created)
      assert.deepEqual(await traces(me, id), [['contact.created'], ['contact.created']])
    })

    it('refuses the email of another, and lets the case of its own change', async () => {
      const me = testCaller()
      const { id } = await create(me, { email: 'one@example.com' })
      await create(me, { email: 'two@example.com' })
      await assert.rejects(audience.contacts.updateContact({ id, email: 'TWO@example.com' }, me), {
        code: 'record.duplicate',
        path: 'email',
      })
      await audience.contacts.updateContact({ id, email: 'ONE@example.com' }, me)
      assert.equal((await get(me, id)).email, 'ONE@example.com')
      await audience.contacts.updateContact({ id, email: 'three@example.com' }, me)
      await create(me, { email: 'one@example.com' })
    })

    it('loses nothing when many change at once', async () => {
      const me = testCaller()
      for (let index = 0; index < 5; index++) await define(me, { slug: `a${index}`, type: 'number' })
      const { id } = await create(me, { email: 'one@example.com' })
      const changes = Array.from({ length: 5 }, (_, index) =>
        audience.contacts.updateAttributes({ id, attributes: { [`a${index}`]: index } }, me),
      )
      await Promise.all([...changes, audience.contacts.updateContact({ id, name: 'Two' }, me)])
      const { attributes, name } = await get(me, id)
      assert.deepEqual([attributes, name], [{ a0: 0, a1: 1, a2: 2, a3: 3, a4: 4 }, 'Two'])
      assert.equal((await timeline(me, id)).length, 7)
    })

    it('refuses one of many at once by itself', async () => {
      const me = testCaller()
      const emails = Array.from({ length: 8 }, (_, index) => `c${index}@example.com`)
      const contacts = await Promise.all(emails.map(email => create(me, { email })))
      const requests = [
        ...contacts.slice(2).map(({ id }) => ({ id, name: 'Changed' })),
        { id: nobody, name: 'Changed' },
        { id: contacts[0]!.id, email: 'C7@example.com' },
        { id: contacts[1]!.id, email: 'new@example.com' },
        { id: contacts[1]!.id, name: 'Changed too' },
      ]
      const results = await Promise.allSettled(requests.map(request => audience.contacts.updateContact(request, me)))
      const codes = results.map(result => (result.status === 'rejected' ? result.reason.code : 'ok'))
      assert.deepEqual(codes, [...Array(6).fill('ok'), 'contact.not_found', 'record.duplicate', 'ok', 'ok'])
      const { docs } = await list(me)
      const shown = docs.map(({ email, name }) => [email, name]).sort()
      const changed = emails.slice(2).map(email => [email, 'Changed'])
      assert.deepEqual(shown, [['c0@example.com', ''], ...changed, ['new@example.com', 'Changed too']])
      assert.deepEqual((await traces(me, contacts[0]!.id))[1], ['contact.created'])
    })
  })

  describe('attributes', () => {
    it('merges, and removes by null', async () => {
      const me = testCaller()
      await define(me, { slug: 'company', type: 'string' })
      await define(me, { slug: 'plan', type: 'enum', options: ['free', 'paid'] })
      const { id } = await create(me, { email: 'one@example.com', attributes: { company: 'Acme' } })
      await audience.contacts.updateAttributes({ id, attributes: { plan: 'paid' } }, me)
      assert.deepEqual((await get(me, id)).attributes, { company: 'Acme', plan: 'paid' })
      await audience.contacts.updateAttributes({ id, attributes: { company: null } }, me)
      assert.deepEqual((await get(me, id)).attributes, { plan: 'paid' })
      const history = audience.contacts.listAttributesHistory(
        { id, list: { filter: '{"key":"attributes.company"}' } },
        me,
      )
      const { docs, totalDocs } = await streamedJsonOf<Page<Record<string, unknown>>>(history)
      assert.equal(totalDocs, 1)
      const { key, from, to, type, contact, actor } = docs[0]!
      assert.deepEqual(
        [key, from, to, type, contact],
        ['attributes.company', 'Acme', null, 'contact.attributes_updated', id],
      )
      assert.deepEqual(actor, { kind: 'user', id: me.caller.userId, name: 'User One' })
    })

    it('refuses what does not fit, whole', async () => {
      const me = testCaller()
      await define(me, { slug: 'age', type: 'number' })
      await define(me, { slug: 'plan', type: 'enum', options: ['free'] })
      await define(me, { slug: 'city', type: 'string', required: true })
      const { id } = await create(me, { email: 'one@example.com', attributes: { city: 'Oslo' } })
      for (const [attributes, code, slug] of [
        [{ age: 1, plan: 'paid' }, 'request.invalid_field', 'plan'],
        [{ age: '1' }, 'request.invalid_field', 'age'],
        [{ age: 1, size: 2 }, 'request.extra_field', 'size'],
        [{ age: 1, city: null }, 'request.missing_field', 'city'],
      ] as const) {
        const attempt = audience.contacts.updateAttributes({ id, attributes }, me)
        await assert.rejects(attempt, { code, path: `attributes.${slug}` })
      }
      assert.deepEqual((await get(me, id)).attributes, { city: 'Oslo' })
    })
  })

  describe('the text of all attributes', () => {
    const slugs = Array.from({ length: 8 }, (_, index) => `a${index}`)
    const texts = (of: readonly string[]) => Object.fromEntries(of.map(slug => [slug, 'é'.repeat(5000)]))
    const refusal = {
      code: 'request.invalid_field',
      path: 'attributes',
      message: 'invalid field -> attributes: at most 64 KiB of text in all attributes of a contact',
    }

    it('is limited in a new contact and in a changed one', async () => {
      const me = testCaller()
      for (const slug of slugs) await define(me, { slug, type: 'string' })
      await assert.rejects(create(me, { email: 'one@example.com', attributes: texts(slugs) }), refusal)
      const { id } = await create(me, { email: 'one@example.com', attributes: texts(slugs.slice(0, 6)) })
      const update = (attributes: Record<string, string | null>) =>
        audience.contacts.updateAttributes({ id, attributes }, me)
      await assert.rejects(update(texts(['a6'])), refusal)
      await update({ ...texts(['a6']), a0: null })
      await audience.contacts.updateContact({ id, name: 'One' }, me)
      assert.deepEqual(Object.keys((await get(me, id)).attributes).sort(), slugs.slice(1, 7))
    })

    it('does not grow where a former release has stored more', async () => {
      const me = testCaller()
      for (const slug of slugs) await define(me, { slug, type: 'string' })
      const { id } = await create(me, { email: 'one@example.com' })
      const stored = { $set: { attributes: texts(slugs) } }
      await audience.db.collection('contacts').updateOne({ _id: new Types.ObjectId(id) }, stored)
      const update = (attributes: Record<string, string | null>) =>
        audience.contacts.updateAttributes({ id, attributes }, me)
      await assert.rejects(update({ a0: 'é'.repeat(5001) }), refusal)
      await update({ a0: 'e'.repeat(10_000), a1: null })
      assert.equal(Object.keys((await get(me, id)).attributes).length, 7)
    })
  })

  it('replaces tags wholesale, in order, without repetition', async () => {
    const me = testCaller()
    const { id } = await create(me, { email: 'one@example.com', tags: ['a'] })
    await audience.contacts.replaceTags({ id, tags: ['z', ' b ', 'z', 'B'] }, me)
    assert.deepEqual((await get(me, id)).tags, ['z', 'b', 'B'])
    await audience.contacts.replaceTags({ id, tags: [] }, me)
    assert.deepEqual((await get(me, id)).tags, [])
    assert.deepEqual((await traces(me, id))[0], ['contact.created', 'contact.tags_replaced', 'contact.tags_replaced'])
  })

  it('blocks and unblocks, again without effect; a later reason replaces', async () => {
    const me = testCaller()
    const { id } = await create(me, { email: 'one@example.com' })
    await audience.contacts.blockContact({ id, reason: 'spam trap' }, me)
    const blocked = await get(me, id)
    assert.deepEqual([blocked.blocked, blocked.blockedReason], [true, 'spam trap'])
    assert.equal(blocked.blockedAt, blocked.updatedAt)
    await audience.contacts.blockContact({ id }, me)
    assert.deepEqual(await get(me, id), blocked)
    await audience.contacts.blockContact({ id, reason: 'asked to' }, me)
    const again = await get(me, id)
    assert.deepEqual([again.blockedReason, again.blockedAt], ['asked to', blocked.blockedAt])
    await audience.contacts.unblockContact({ id }, me)
    await audience.contacts.unblockContact({ id }, me)
    const { blocked: flag, blockedAt, blockedReason } = await get(me, id)
    assert.deepEqual([flag, blockedAt, blockedReason], [false, null, null])
    const events = ['contact.created', 'contact.blocked', 'contact.updated', 'contact.unblocked']
    assert.deepEqual((await traces(me, id))[1], events)
  })

  it('deletes, and answers the record as it was', async () => {
    const me = testCaller()
    const first = await create(me, { email: 'one@example.com', tags: ['a'] })
    await create(me, { email: 'two@example.com' })
    await audience.contacts.replaceTags({ id: first.id, tags: ['b'] }, me)
    const deleted = await jsonOf<Contact>(audience.contacts.deleteContact({ id: first.id }, me))
    assert.deepEqual(deleted.tags, ['b'])
    await assert.rejects(get(me, first.id), { code: 'contact.not_found', message: 'contact not found' })
    await assert.rejects(audience.contacts.deleteContact({ id: first.id }, me), { code: 'contact.not_found' })
    const { totalDocs, docs } = await list(me)
    assert.deepEqual([totalDocs, docs.map(({ email }) => email)], [1, ['two@example.com']])
    assert.equal(await audience.db.collection('history').countDocuments({ contact: new Types.ObjectId(first.id) }), 0)
    assert.equal((await eventsOf(first.id)).at(-1)?.type, 'contact.deleted')
    await create(me, { email: 'one@example.com' })
  })

  describe('list', () => {
    const me = testCaller()
    before(async () => {
      await define(me, { slug: 'age', type: 'number' })
      await define(me, { slug: 'since', type: 'date' })
      for (let index = 0; index < 25; index++) {
        const attributes = { age: index, since: `2024-01-${String(index + 1).padStart(2, '0')}` }
        await create(me, { email: `C${index}@example.com`, name: `n${index % 5}`, tags: [`t${index % 3}`], attributes })
      }
    })

    it('pages, newest first, with an exact total', async () => {
      const { docs, ...envelope } = await list(me, { page: 3 })
      assert.deepEqual(
        docs.map(({ email }) => email),
        ['C4', 'C3', 'C2', 'C1', 'C0'].map(name => `${name}@example.com`),
      )
      assert.deepEqual(envelope, {
        totalDocs: 25,
        limit: 10,
        totalPages: 3,
        page: 3,
        pagingCounter: 21,
        hasPrevPage: true,
        hasNextPage: false,
        prevPage: 2,
        nextPage: null,
      })
    })

    it('filters by every kind of field', async () => {
      for (const [filter, expected] of [
        [{ email: 'c7@EXAMPLE.com' }, ['C7']],
        [{ email: { $in: ['c1@example.com', 'c2@example.com'] } }, ['C2', 'C1']],
        [{ tags: 't1', name: 'n1' }, ['C16', 'C1']],
        [{ 'attributes.age': { $gte: 23 } }, ['C24', 'C23']],
        [{ attributes: { age: { $lt: 1 } } }, ['C0']],
        [{ 'attributes.since': { $gt: '2024-01-24' } }, ['C24']],
        [{ unsubscribed: true }, []],
        [{ $or: [{ 'attributes.age': 3 }, { 'attributes.age': 4 }] }, ['C4', 'C3']],
      ] as const) {
        const emails = await emailsOf(me, { filter: JSON.stringify(filter), limit: 100 })
        assert.deepEqual(
          emails,
          expected.map(name => `${name}@example.com`),
          JSON.stringify(filter),
        )
      }
    })

    it('sorts, then by id', async () => {
      const ages = async (sort: object) =>
        (await list(me, { sort: JSON.stringify(sort), limit: 6 })).docs.map(({ attributes }) => attributes.age)
      assert.deepEqual(await ages({ 'attributes.age': 1 }), [0, 1, 2, 3, 4, 5])
      assert.deepEqual(await ages({ name: 1 }), [0, 5, 10, 15, 20, 1])
      assert.deepEqual(await ages({ name: 'desc' }), [24, 19, 14, 9, 4, 23])
    })

    it('shows what the projection names', async () => {
      const { docs } = await list(me, { projection: '{"name":1,"attributes.age":1}', limit: 1 })
      const { id } = docs[0]!
      assert.deepEqual(docs, [{ _id: id, id, name: 'n4', attributes: { age: 24 } }])
    })

    it('streams all of it with pagination=false', async () => {
      const all = await streamedJsonOf<Contact[]>(audience.contacts.listContacts({ list: { pagination: false } }, me))
      assert.equal(all.length, 25)
      assert.equal(all[0]?.email, 'C24@example.com')
    })

    it('refuses fields that are not public', async () => {
      for (const name of ['emailKey', 'organization', 'position', 'attributes.shoe_size']) {
        await assert.rejects(list(me, { filter: JSON.stringify({ [name]: 1 }) }), {
          code: 'request.invalid_field',
          path: 'filter',
        })
        await assert.rejects(list(me, { sort: JSON.stringify({ [name]: 1 }) }), {
          code: 'request.invalid_field',
          path: 'sort',
        })
      }
    })
  })

  describe('another organization', () => {
    it('finds nothing, and changes nothing', async () => {
      const me = testCaller()
      const stranger = testCaller()
      const mine = await create(me, { email: 'one@example.com' })
      const { id } = mine
      const attempts = [
        () => get(stranger, id),
        () => audience.contacts.updateContact({ id, name: 'Two' }, stranger),
        () => audience.contacts.updateAttributes({ id, attributes: {} }, stranger),
        () => audience.contacts.replaceTags({ id, tags: [] }, stranger),
        () => audience.contacts.blockContact({ id }, stranger),
        () => audience.contacts.unblockContact({ id }, stranger),
        () => audience.contacts.deleteContact({ id }, stranger),
        () => streamedJsonOf(audience.contacts.listTimeline({ id }, stranger)),
        () => streamedJsonOf(audience.contacts.listActivities({ id }, stranger)),
        () => streamedJsonOf(audience.contacts.listAttributesHistory({ id }, stranger)),
      ]
      for (const attempt of attempts)
        await assert.rejects(attempt, { code: 'contact.not_found', message: 'contact not found' })
      assert.equal((await list(stranger)).totalDocs, 0)
      assert.deepEqual(await emailsOf(stranger, { filter: '{"email":"one@example.com"}' }), [])
      assert.deepEqual(await get(me, id), mine)
    })
  })

  it('counts the tags in use, of this organization only', async () => {
    const [me, stranger] = [testCaller(), testCaller()]
    for (const tags of [['a', 'b'], ['b'], ['B'], []]) {
      await create(me, { email: `${tags.length}${tags.indexOf('b')}${tags.indexOf('B')}@example.com`, tags })
    }
    const countTags = (who: Me) => jsonOf<unknown>(audience.contacts.countTags({}, who))
    assert.deepEqual(await countTags(me), [
      { tag: 'b', count: 2 },
      { tag: 'B', count: 1 },
      { tag: 'a', count: 1 },
    ])
    assert.deepEqual(await countTags(stranger), [])
  })

  it('answers 404 for unknown contacts, also in views', async () => {
    const me = testCaller()
    await assert.rejects(get(me, nobody), { code: 'contact.not_found' })
    await assert.rejects(streamedJsonOf(audience.contacts.listTimeline({ id: nobody }, me)), {
      code: 'contact.not_found',
    })
  })

  it('has no activities yet, and pages the timeline newest first', async () => {
    const me = testCaller()
    const { id } = await create(me, { email: 'one@example.com' })
    for (const name of ['Two', 'Three', 'Four']) await audience.contacts.updateContact({ id, name }, me)
    const { totalDocs } = await streamedJsonOf<Page<Entry>>(audience.contacts.listActivities({ id }, me))
    assert.equal(totalDocs, 0)
    const second = audience.contacts.listTimeline({ id, list: { page: 2, limit: 2 } }, me)
    const { docs, totalPages } = await streamedJsonOf<Page<Entry>>(second)
    assert.deepEqual([docs.map(({ type }) => type), totalPages], [['contact.updated', 'contact.created'], 2])
  })
})
