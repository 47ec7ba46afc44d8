import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventPublishers, type HttpBody } from '@rollcall/contract'
import type { PersonRecord } from '@rollcall/protos/gen/people-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { personOf } from '@rollcall/service'
import { connectStore } from '@rollcall/store'
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
import type { Context } from '../context.ts'
import { downloadContactData } from '../people/contact-data.ts'
import { personalData } from '../people/personal-data.ts'

type Me = { caller: Caller }
type Change = { _id: string; id: string; key: string; to: unknown }
type Entry = Record<string, unknown> & { type: string }

describe('the history of a contact', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const timeline = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<Entry>>(audience.contacts.listTimeline({ id }, me))).docs

  /** Imports contacts to a list and returns their ids. */
  const imported = async (me: Me, count: number) => {
    const lists = audience.client('rollcall.audience.v1.Lists')
    const list = JSON.parse((await lists.createList({ name: 'All', tags: [] }, me)).data.toString()) as { id: string }
    const row = { name: '', attributes: {}, tags: [], clearTags: false }
    const rows = Array.from({ length: count }, (_, index) => ({
      ...row,
      row: index + 1,
      email: `c${index}@example.com`,
    }))
    const job = { jobId: String(new Types.ObjectId()), number: 0, duplicateStrategy: 'update' }
    await audience.batches.applyBatch({ ...job, tags: [], listIds: [list.id], rows }, me)
    const query = { projection: '{"email":1}', pagination: false }
    const all = await streamedJsonOf<{ id: string }[]>(audience.contacts.listContacts({ list: query }, me))
    return all.map(({ id }) => id)
  }

  describe('of an import', () => {
    it('is the same for all who look first at the same time', async () => {
      const me = testCaller()
      for (const id of await imported(me, 10)) {
        const looks = await Promise.all(Array.from({ length: 8 }, () => timeline(me, id)))
        for (const look of looks)
          assert.deepEqual(look.map(({ type }) => type).sort(), ['contact.added_to_list', 'contact.created'])
      }
    })

    it('is whole where somebody looks while the contact leaves its list', async () => {
      const me = testCaller()
      const lists = audience.client('rollcall.audience.v1.Lists')
      const ids = await imported(me, 20)
      const { docs } = await streamedJsonOf<Page<{ id: string }>>(lists.listLists({ list: {} }, me))
      const { id: listId } = docs[0]!
      const leave = (id: string) => lists.removeMembers({ id: listId, contactIds: [id], emails: [] }, me)
      await Promise.all(ids.flatMap(id => [timeline(me, id), leave(id)]))
      const whole = ['contact.added_to_list', 'contact.created', 'contact.removed_from_list']
      for (const id of ids) assert.deepEqual((await timeline(me, id)).map(({ type }) => type).sort(), whole)
    })

    it("is whole in the download of the contact's data", async t => {
      const me = testCaller()
      const [id] = await imported(me, 1)
      const logger = createLogger({ service: 'audience', level: 'silent' })
      const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
      t.after(() => store.close())
      const { organizationId } = me.caller
      const { history } = personalData
      assert.ok(history !== 'none' && history.shown)
      const { find } = history.shown
      const describePerson = async function* (person: object): AsyncGenerator<PersonRecord> {
        yield { section: 'history' }
        const named = personOf({ organizationId, contactId: '', emailKeys: [], names: [], ...person })
        for await (const record of find(context, named)) yield { section: 'history', record: { ...record } }
      }
      const others = Object.fromEntries(eventPublishers.map(name => [name, { async *describePerson() {} }]))
      const people = { ...others, audience: { describePerson } }
      const context = { store, collections: collections(store), people } as unknown as Context
      let text = ''
      for await (const { data } of (await downloadContactData(context, id!, me as Call)) as AsyncIterable<HttpBody>)
        text += data.toString()
      const types = (JSON.parse(text) as { history: Entry[] }).history.map(({ type }) => type)
      assert.deepEqual(types.sort(), ['contact.added_to_list', 'contact.created'])
    })

    it('goes with the contact, also where somebody looks while it goes', async () => {
      const me = testCaller()
      const ids = await imported(me, 20)
      await Promise.all(
        ids.flatMap(id => [
          timeline(me, id).catch(error => assert.equal(error.code, 'contact.not_found')),
          audience.contacts.deleteContact({ id }, me),
        ]),
      )
      const left = { person: { $in: ids.map(id => new Types.ObjectId(id)) } }
      assert.equal(await audience.db.collection('history').countDocuments(left), 0)
    })
  })

  it('names each change of a field by an id of its own, and pages through all of them once in any order', async () => {
    const me = testCaller()
    const slugs = ['a', 'b', 'c', 'd', 'e']
    for (const slug of slugs)
      await audience.attributes.createAttribute({ name: slug, slug, type: 'number', options: [] }, me)
    const { id } = await jsonOf<{ id: string }>(
      audience.contacts.createContact({ email: 'one@example.com', tags: [] }, me),
    )
    for (const value of [1, 2]) {
      const attributes = Object.fromEntries(slugs.map(slug => [slug, value]))
      await audience.contacts.updateAttributes({ id, attributes }, me)
    }
    const changes = (list: object) =>
      streamedJsonOf<Page<Change>>(audience.contacts.listAttributesHistory({ id, list }, me)).then(({ docs }) => docs)
    const all = await changes({ limit: 100 })
    assert.equal(new Set(all.map(({ _id }) => _id)).size, 10)
    assert.ok(all.every(({ id, _id }) => id === _id && /^[0-9a-f]{24}$/.test(id)))
    assert.deepEqual(
      all.map(({ key, to }) => `${key.at(-1)}${to}`),
      [2, 1].flatMap(value => slugs.map(slug => `${slug}${value}`)),
      'newest first, those of one request in its order',
    )
    await audience.contacts.replaceTags({ id, tags: ['a', 'b'] }, me)
    for (const to of [['a', 'b'], 'a', { $size: 2 }])
      assert.deepEqual(
        (await changes({ filter: JSON.stringify({ to }) })).map(({ key }) => key),
        ['tags'],
      )
    const [third] = await changes({ filter: JSON.stringify({ _id: all[2]!._id }) })
    assert.deepEqual(third, all[2])
    for (const sort of [undefined, '{"at":1}', '{"type":1}', '{"to":-1}']) {
      const pages = await Promise.all([1, 2, 3, 4].map(page => changes({ page, limit: 3, ...(sort && { sort }) })))
      assert.equal(new Set(pages.flat().map(({ _id }) => _id)).size, 11, sort)
    }
  })
})
