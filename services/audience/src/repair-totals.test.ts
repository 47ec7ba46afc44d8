import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import type { Caller } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { Types } from 'mongoose'
import { jsonOf, type Page, startOwnAudience, streamedJsonOf, type TestAudience, testCaller } from '../test/audience.ts'
import { collections } from './collections.ts'
import type { Data } from './context.ts'
import { repairGrowth } from './growth/repair-growth.ts'
import { repairTotals } from './repair-totals.ts'

const logger = createLogger({ service: 'audience', level: 'silent' })

describe('the repair of totals', () => {
  let audience: TestAudience
  let data: Data
  let close: () => Promise<void>
  before(async () => {
    audience = await startOwnAudience()
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    data = { store, collections: collections(store), logger }
    close = store.close
  })
  after(async () => {
    await close()
    await audience.stop()
  })

  const listOfThree = async (me: { caller: Caller }) => {
    const lists = audience.client('rollcall.audience.v1.Lists')
    const { id } = await jsonOf<{ id: string }>(lists.createList({ name: 'All', tags: [] }, me))
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com'])
      await audience.contacts.createContact({ email, tags: [] }, me)
    await lists.addMembers({ id, contactIds: [], emails: [], filter: {} }, me)
    const totals = async () => {
      const contacts = await streamedJsonOf<Page<object>>(audience.contacts.listContacts({ list: {} }, me))
      const members = await streamedJsonOf<Page<object>>(lists.listMembers({ id, list: {} }, me))
      return [contacts, members].map(({ docs, totalDocs }) => [docs.length, totalDocs])
    }
    return { id, totals }
  }
  const damage = ({ caller }: { caller: Caller }) =>
    audience.db
      .collection('positions')
      .updateMany({ organization: new Types.ObjectId(caller.organizationId) }, { $set: { total: 7, last: 1 } })
  const right = [
    [3, 3],
    [3, 3],
  ]

  it('counts the growth of contacts and lists again, by what exists', async () => {
    const me = testCaller()
    const { id } = await listOfThree(me)
    const { contacts, db } = audience
    const [{ docs }] = [await streamedJsonOf<Page<{ id: string }>>(contacts.listContacts({ list: {} }, me))]
    await contacts.blockContact({ id: docs[0]!.id, reason: '' }, me)
    await contacts.updateContact({ id: docs[1]!.id, unsubscribed: true }, me)
    const read = async () => [
      await jsonOf(contacts.getGrowth({}, me)),
      await jsonOf(contacts.getGrowth({ list: id }, me)),
    ]
    const right = await read()
    const organization = me.caller.organizationId
    const ofThis = { organization: new Types.ObjectId(organization) }
    const repaired = async () => (await repairGrowth(data)).filter(repair => repair.organization === organization)
    assert.deepEqual(await repaired(), [])
    const day = new Date().getUTCDate()
    const damages = [
      () => db.collection('growth').deleteMany(ofThis),
      () => db.collection('growth').updateMany(ofThis, { $set: { [`days.${day}.created`]: 99 } }),
    ]
    for (const damage of damages) {
      await damage()
      assert.notDeepEqual(await read(), right)
      assert.deepEqual(await repaired(), [
        { organization, days: 1 },
        { organization, list: id, days: 1 },
      ])
      assert.deepEqual(await read(), right)
    }
  })

  it('sets those of contacts and of lists right, and leaves right ones alone', async () => {
    const me = testCaller()
    const { id, totals } = await listOfThree(me)
    assert.deepEqual(await repairTotals(data), [])
    await damage(me)
    assert.notDeepEqual(await totals(), right)
    const organization = me.caller.organizationId
    assert.deepEqual(await repairTotals(data), [
      { organization, was: 7, is: 3 },
      { organization, list: id, was: 7, is: 3 },
    ])
    assert.deepEqual(await totals(), right)
  })

  it('is part of the repair command', async () => {
    const me = testCaller()
    const { totals } = await listOfThree(me)
    await damage(me)
    const command = new URL('repair-counts.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [command], { env: audience.env, stdio: 'ignore' })
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.deepEqual(await totals(), right)
  })
})
