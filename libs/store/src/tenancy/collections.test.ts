import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type ClientSession, Schema } from 'mongoose'
import { recordingStore, testStore } from '../../test/store.ts'
import { defineCollections } from './collections.ts'
import type { Store } from './connection.ts'
import { READ_MS } from './read-limits.ts'

type Counter = { name: string }
const collections = defineCollections({ counters: new Schema<Counter>({ name: String }) })

let store: Store
let drop: () => Promise<void>
before(async () => {
  ;({ store, drop } = await testStore())
})
after(() => drop())

it('unscoped operations join a transaction by `session`; `tx`, which mongoose ignores, does not compile', async () => {
  const { counters } = collections(store).unscoped
  await counters.create([{ name: 'a' }, { name: 'b' }])
  const rolledBack = (work: (tx: ClientSession) => Promise<unknown>) =>
    assert.rejects(
      store.transaction(async tx => {
        await work(tx)
        throw new RangeError('roll back')
      }),
    )
  await rolledBack(tx => counters.deleteOne({ name: 'a' }, { session: tx }))
  assert.equal(await counters.countDocuments(), 2)
  // @ts-expect-error: unscoped operations take `session`, not `tx`
  await rolledBack(tx => counters.deleteOne({ name: 'a' }, { tx }))
  assert.equal(await counters.countDocuments(), 1)
  // @ts-expect-error: unscoped operations take `session`, not `tx`
  await rolledBack(tx => counters.findOneAndUpdate({ name: 'b' }, { name: 'c' }, { tx }))
  assert.ok(await counters.exists({ name: 'c' }))
})

it('unscoped reads have a time limit on the server, of their own or the default', async () => {
  const { store, drop, commands } = await recordingStore()
  const { counters } = collections(store).unscoped
  await counters.create([{ name: 'a' }])
  commands.length = 0
  await counters.find({ name: 'a' }).lean()
  await counters.findOne({ name: 'a' }).maxTimeMS(77)
  await counters.exists({ name: 'a' })
  await counters.distinct('name')
  await counters.countDocuments({ name: 'a' })
  await counters.aggregate([{ $match: { name: 'a' } }])
  for await (const { name } of counters.find({}).cursor()) assert.equal(name, 'a')
  const reads = commands.filter(command => ['find', 'aggregate', 'distinct', 'count'].some(name => name in command))
  assert.deepEqual(
    reads.map(({ maxTimeMS }) => maxTimeMS),
    [READ_MS, 77, READ_MS, READ_MS, READ_MS, READ_MS, READ_MS],
  )
  await drop()
})
