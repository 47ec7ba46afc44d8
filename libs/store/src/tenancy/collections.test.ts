import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type ClientSession, Schema } from 'mongoose'
import { testStore } from '../../test/store.ts'
import { defineCollections } from './collections.ts'
import type { Store } from './connection.ts'

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
