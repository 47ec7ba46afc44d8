import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { topics } from '@rollcall/bus'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'

type Contact = { id: string; email: string }

describe('a filter of contacts', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  it('finds what is there now, whatever wrote it, though what it matched is remembered', async () => {
    const me = testCaller()
    const [userId, jobId] = [String(new Types.ObjectId()), String(new Types.ObjectId())]
    const { contacts, attributes, batches, users } = audience
    users.set(me.caller.organizationId, [{ id: userId, name: 'User One', email: 'u@example.com' } as never])
    await attributes.createAttribute({ name: 'City', slug: 'city', type: 'string', options: [] }, me)
    const create = (email: string) => jsonOf<Contact>(contacts.createContact({ email, tags: ['new'] }, me))
    const { id } = await create('one@example.com')
    const total = async (filter: object) =>
      (
        await streamedJsonOf<Page<Contact>>(
          contacts.listContacts({ list: { filter: JSON.stringify(filter), limit: 1 } }, me),
        )
      ).totalDocs
    const bounced = () =>
      audience.publish(topics.messaging, [
        {
          id: randomUUID(),
          type: 'email.bounced',
          source: 'messaging',
          subject: 'm1',
          organization: me.caller.organizationId,
          time: new Date().toISOString(),
          data: {
            emailId: 'm1',
            to: 'one@example.com',
            subject: '',
            sender: '',
            at: new Date().toISOString(),
            kind: 'transactional',
          },
        },
      ])
    const row = { row: 1, email: 'two@example.com', name: 'Two', attributes: {}, tags: [], clearTags: false }
    const batch = { jobId, number: 0, duplicateStrategy: 'update', tags: [], listIds: [] }

    const lists = audience.client('rollcall.audience.v1.Lists')
    const list = await jsonOf<{ id: string }>(lists.createList({ name: 'List', tags: [] }, me))
    const selected = { id: list.id, contactIds: [id], emails: [] }
    const onList = { lists: list.id }

    const isNew = { tags: 'new' }
    const steps: [write: () => Promise<unknown>, filter: object, was: number, is: number][] = [
      [() => contacts.updateContact({ id, name: 'Uno' }, me), { name: 'Uno' }, 0, 1],
      [() => contacts.updateAttributes({ id, attributes: { city: 'Oslo' } }, me), { 'attributes.city': 'Oslo' }, 0, 1],
      [() => contacts.blockContact({ id, reason: '' }, me), { blocked: true }, 0, 1],
      [() => contacts.unblockContact({ id }, me), { blocked: true }, 1, 0],
      [() => contacts.linkUser({ id, userId }, me), { user: userId }, 0, 1],
      [() => contacts.linkUser({ id, userId: '' }, me), { user: userId }, 1, 0],
      [bounced, { emailStatus: 'bounced' }, 0, 1],
      [() => contacts.replaceTags({ id, tags: ['old'] }, me), isNew, 1, 0],
      [() => create('three@example.com'), isNew, 0, 1],
      [() => lists.addMembers(selected, me), onList, 0, 1],
      [() => lists.removeMembers(selected, me), onList, 1, 0],
      [() => batches.applyBatch({ ...batch, rows: [row] } as never, me), { source: 'import' }, 0, 1],
      [() => batches.undoBatch({ jobId, number: 0 }, me), { source: 'import' }, 1, 0],
      [() => contacts.deleteContact({ id }, me), { name: 'Uno' }, 1, 0],
    ]
    for (const [write, filter, was, is] of steps) {
      assert.equal(await total(filter), was, `before ${write}`)
      await write()
      for (const until = Date.now() + 10_000; (await total(filter)) !== is; ) {
        assert.ok(write === bounced && Date.now() < until, `after ${write}`) // an event takes effect later
      }
    }
  })

  it('finds contacts by the lists they are on', async () => {
    const me = testCaller()
    const lists = audience.client('rollcall.audience.v1.Lists')
    const make = async (name: string, emails: string[]) => {
      const { id } = await jsonOf<{ id: string }>(lists.createList({ name, tags: [] }, me))
      await lists.addMembers({ id, contactIds: [], emails }, me)
      return id
    }
    for (const name of ['a', 'b', 'c', 'd'])
      await audience.contacts.createContact({ email: `${name}@example.com`, tags: [] }, me)
    const [one, two] = [
      await make('One', ['a@example.com', 'b@example.com']),
      await make('Two', ['b@example.com', 'c@example.com']),
    ]
    // On none again: its set is empty, where that of d is missing.
    await lists.removeMembers({ id: two, contactIds: [], emails: ['c@example.com'] }, me)
    const found = async (list: object) => {
      const body = audience.contacts.listContacts({ list: { sort: '{"email":1}', ...list } }, me)
      return (await streamedJsonOf<Page<Contact>>(body)).docs.map(({ email }) => email[0]).join('')
    }
    const by = (lists: unknown) => found({ filter: JSON.stringify({ lists }) })
    assert.equal(await by(one), 'ab')
    assert.equal(await by({ $in: [one, two] }), 'ab')
    assert.equal(await by({ $nin: [two] }), 'acd')
    assert.equal(await by({ $ne: one }), 'cd')
    assert.equal(await by({ $exists: true }), 'ab')
    assert.equal(await by({ $exists: false }), 'cd')
    assert.equal(await by({ $in: [one], $nin: [two] }), 'a')
    assert.equal(await by(String(new Types.ObjectId())), '')
    assert.equal(await found({ filter: JSON.stringify({ $or: [{ lists: two }, { email: 'd@example.com' }] }) }), 'bd')
    for (const other of [{ sort: '{"lists":1}' }, { projection: '{"lists":1}' }, { filter: '{"lists":"x"}' }])
      await assert.rejects(found(other), { code: 'request.invalid_field', path: Object.keys(other)[0] })
    await lists.deleteList({ id: two }, me)
    for (const until = Date.now() + 10_000; (await by(two)) !== ''; ) assert.ok(Date.now() < until)
  })

  it('means the time of each request by now, though what it matched is remembered', async () => {
    const me = testCaller()
    await audience.attributes.createAttribute({ name: 'Due', slug: 'due', type: 'date', options: [] }, me)
    const dueAt = Date.now() + 1500
    const attributes = { due: new Date(dueAt).toISOString() }
    await audience.contacts.createContact({ email: 'due@example.com', tags: [], attributes }, me)
    const total = async (filter: object) =>
      (
        await streamedJsonOf<Page<Contact>>(
          audience.contacts.listContacts({ list: { filter: JSON.stringify(filter) } }, me),
        )
      ).totalDocs
    const isDue = { 'attributes.due': { $lte: 'now' } }
    const early = await total(isDue)
    if (Date.now() < dueAt) assert.equal(early, 0)
    while ((await total(isDue)) === 0) assert.ok(Date.now() < dueAt + 10_000)
    assert.ok(Date.now() >= dueAt)
    assert.equal(await total({ createdAt: { $gte: 'now-1m', $lt: 'now+1h' } }), 1)
    assert.equal(await total({ createdAt: { $lt: 'now-1m' } }), 0)
  })

  it('finds no value of an attribute that is gone', async () => {
    const me = testCaller()
    const { contacts, attributes } = audience
    const define = () =>
      jsonOf<{ id: string }>(
        attributes.createAttribute({ name: 'City', slug: 'city', type: 'string', options: [] }, me),
      )
    const { id } = await define()
    await contacts.createContact({ email: 'one@example.com', tags: [], attributes: { city: 'Oslo' } }, me)
    const filter = '{"attributes.city":"Oslo"}'
    const total = async () =>
      (await streamedJsonOf<Page<Contact>>(contacts.listContacts({ list: { filter } }, me))).totalDocs
    assert.equal(await total(), 1)
    await attributes.deleteAttribute({ id }, me)
    await define()
    assert.equal(await total(), 0)
  })
})
