import { type ClientSession, type Connection, Schema, type Types } from 'mongoose'
import { connectionOf, type Store } from '../tenancy/connection.ts'
import { mapped, startAgain } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { objectId } from '../tenancy/scope.ts'

/** Transactions that write one document side by side begin again: a counter is the sum of this many. */
const SLOTS = 16

type Slot = { organization: Types.ObjectId; name: string; slot: number; value: number }

const slotSchema = new Schema<Slot>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    slot: { type: Number, required: true },
    value: { type: Number, required: true },
  },
  { collection: 'counters', versionKey: false },
)
slotSchema.index({ organization: 1, name: 1, slot: 1 }, { unique: true })

/** Declares the collection of the counters, for `migrate`. */
export const counterModel = (store: Pick<Store, 'model'>) => store.model('Counter', slotSchema)

/** Which number of which organization: for example its `contacts`. */
export type CounterKey = { organization: string | Types.ObjectId; name: string }

/** Moves a counter with the records it counts, in their transaction. It begins at 0. */
export async function moveCounter(session: ClientSession, key: CounterKey, by: number): Promise<void> {
  if (by === 0) return
  const slot = { ...stored(key), slot: Math.floor(Math.random() * SLOTS) }
  const move = slotsOf(connectionOf(session)).updateOne(slot, { $inc: { value: by } }, { session, upsert: true })
  await mapped(move).catch(startAgain)
}

/** Moves a counter so that whoever else moves it meets this transaction: it comes to its end before, or begins again after. */
export async function moveCounterAlone(session: ClientSession, key: CounterKey): Promise<void> {
  const moves = Array.from({ length: SLOTS }, (_, slot) => ({
    updateOne: { filter: { ...stored(key), slot }, update: { $inc: { value: 1 } }, upsert: true },
  }))
  await mapped(slotsOf(connectionOf(session)).bulkWrite(moves, { session })).catch(startAgain)
}

/** What a counter stands at. */
export function readCounter(store: Store, key: CounterKey, session?: ClientSession): Promise<number> {
  return sumOf(store.connection, key, session)
}

/** Sets a counter to what `count` finds, beside writers that go on; answers what it was and what it is. */
export function repairCounter(
  store: Store,
  key: CounterKey,
  count: (session: ClientSession) => Promise<number>,
): Promise<{ was: number; is: number }> {
  const slots = slotsOf(store.connection)
  return store.transaction(async session => {
    const was = await sumOf(store.connection, key, session)
    const is = await count(session)
    await mapped(slots.deleteMany(stored(key), { session }))
    await mapped(slots.insertOne({ ...stored(key), slot: 0, value: is }, { session })).catch(startAgain)
    return { was, is }
  })
}

async function sumOf(connection: Connection, key: CounterKey, session?: ClientSession): Promise<number> {
  const slots = await mapped(
    slotsOf(connection)
      .find(stored(key), { maxTimeMS: READ_MS, ...(session && { session }) })
      .toArray(),
  )
  return slots.reduce((sum, { value }) => sum + value, 0)
}

function slotsOf(connection: Connection) {
  return connection.collection<Slot>('counters')
}

function stored({ organization, name }: CounterKey) {
  return { organization: objectId(organization, 'organization'), name }
}
