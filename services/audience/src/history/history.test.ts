import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Caller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { type Page, startTestAudience, streamedJsonOf, type TestAudience, testCaller } from '../test-audience.ts'

type Me = { caller: Caller }
type Entry = Record<string, unknown> & { type: string }

describe('the history of a contact', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const timeline = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<Entry>>(audience.contacts.listTimeline({ id }, me))).docs

  /** Contacts of an import that put them on a list; answers their ids. */
  const imported = async (me: Me, count: number) => {
    const lists = audience.client('rollcall.audience.v1.Lists')
    const list = JSON.parse((await lists.createList({ name: 'All', tags: [] }, me)).data.toString()) as { id: string }
    const row = { name: '', attributes: '', tags: [], clearTags: false }
    const rows = Array.from({ length: count }, (_, index) => ({
      ...row,
      row: index + 1,
      email: `c${index}@example.com`,
    }))
    const job = { jobId: String(new Types.ObjectId()), number: 0, duplicateStrategy: 'update', emptyValues: 'ignore' }
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

    it('goes with the contact, also where somebody looks while it goes', async () => {
      const me = testCaller()
      const ids = await imported(me, 20)
      await Promise.all(
        ids.flatMap(id => [
          timeline(me, id).catch(error => assert.equal(error.code, 'not_found')),
          audience.contacts.deleteContact({ id }, me),
        ]),
      )
      const left = { person: { $in: ids.map(id => new Types.ObjectId(id)) } }
      assert.equal(await audience.db.collection('history').countDocuments(left), 0)
    })
  })
})
