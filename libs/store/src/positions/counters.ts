import { type ClientSession, type Connection, Schema, type Types } from 'mongoose'
import { connectionOf, type Store } from '../tenancy/connection.ts'
import { retryTransaction, translateErrors } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { objectId } from '../tenancy/scope.ts'

/** A counter is the sum of this many documents, so that concurrent transactions rarely conflict. */
const SLOTS = 64
/** Concurrent transactions of a process get different slots; processes start at different ones. */
let nextSlot = Math.floor(Math.random() * SLOTS)

type Slot = { organization: Types.ObjectId; name: string; slot: number; value: number; noted?: number }

const slotSchema = new Schema<Slot>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    slot: { type: Number, required: true },
    value: { type: Number, required: true },
    noted: Number,
  },
  { collection: 'counters', versionKey: false },
)
slotSchema.index({ organization: 1, name: 1, slot: 1 }, { unique: true })

/** Declares the collection of counters, for `migrate`. */
export function counterModel(store: Pick<Store, 'model'>) {
  return store.model('Counter', slotSchema)
}

/** A counter of an organization, for example `contacts`. */
export type CounterKey = { organization: string | Types.ObjectId; name: string }

/** How a counter is incremented. `noted` counts the same increments apart from those of writers that do not know it. */
type Increment = { isNoted?: boolean }

/** Increments a counter in the transaction that changes the counted records. Counters start at 0. */
export async function incrementCounter(
  tx: ClientSession,
  key: CounterKey,
  by: number,
  { isNoted = false }: Increment = {},
): Promise<void> {
  if (by === 0) return
  nextSlot = (nextSlot + 1) % SLOTS
  const slot = { ...stored(key), slot: nextSlot }
  const $inc = { value: by, ...(isNoted && { noted: by }) }
  const increment = slotsOf(connectionOf(tx)).updateOne(slot, { $inc }, { session: tx, upsert: true })
  await translateErrors(increment).catch(retryTransaction)
}

/** Increments a counter and conflicts with every other transaction that increments it: one of the two is retried. */
export async function incrementCounterExclusively(
  tx: ClientSession,
  key: CounterKey,
  { isNoted = false }: Increment = {},
): Promise<void> {
  const $inc = { value: 1, ...(isNoted && { noted: 1 }) }
  const increments = Array.from({ length: SLOTS }, (_, slot) => ({
    updateOne: { filter: { ...stored(key), slot }, update: { $inc }, upsert: true },
  }))
  await translateErrors(slotsOf(connectionOf(tx)).bulkWrite(increments, { session: tx })).catch(retryTransaction)
}

/** Reads a counter. `readConcern: 'majority'` leaves out changes that a failover may still roll back. */
export function readCounter(
  store: Store,
  key: CounterKey,
  options: { readConcern?: 'majority' } = {},
): Promise<number> {
  return sumOf(store.connection, key, options)
}

/** Returns by how much a counter was incremented by writers that do not know `noted`. */
export function readUnnoted(store: Store, key: CounterKey): Promise<number> {
  return sumOf(store.connection, key, { readConcern: 'majority' }, ({ value, noted = 0 }) => value - noted)
}

/** Sets a counter to the result of `count`, while writers continue. Returns the old and the new value. */
export function repairCounter(
  store: Store,
  key: CounterKey,
  count: (tx: ClientSession) => Promise<number>,
): Promise<{ was: number; is: number }> {
  const slots = slotsOf(store.connection)
  return store.transaction(async tx => {
    const was = await sumOf(store.connection, key, { tx })
    const is = await count(tx)
    await translateErrors(slots.deleteMany(stored(key), { session: tx }))
    await translateErrors(slots.insertOne({ ...stored(key), slot: 0, value: is }, { session: tx })).catch(
      retryTransaction,
    )
    return { was, is }
  })
}

async function sumOf(
  connection: Connection,
  key: CounterKey,
  { tx, readConcern }: { tx?: ClientSession; readConcern?: 'majority' },
  of: (slot: Slot) => number = ({ value }) => value,
): Promise<number> {
  const options = { maxTimeMS: READ_MS, ...(tx && { session: tx }), ...(readConcern && { readConcern }) }
  const slots = await translateErrors(slotsOf(connection).find(stored(key), options).toArray())
  return slots.reduce((sum, slot) => sum + of(slot), 0)
}

function slotsOf(connection: Connection) {
  return connection.collection<Slot>('counters')
}

function stored({ organization, name }: CounterKey) {
  return { organization: objectId(organization, 'organization'), name }
}
