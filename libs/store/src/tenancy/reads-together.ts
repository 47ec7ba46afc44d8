import { type Model, Types } from 'mongoose'
import { documentReader } from '../positions/bson-fields.ts'
import { translateErrors } from './errors.ts'
import { READ_MS } from './read-limits.ts'

/** Ids of one command. MongoDB looks each up in the index by itself, so more in one command gain nothing. */
const MAX_IDS = 200

type Waiting<T> = { resolve(record: T | null): void; reject(error: unknown): void }
/** The reads of one command, by id. */
type Batch<T> = Map<string, Waiting<T>[]>
/** Reads of one collection, by organization. */
type Batches = Map<string, Batch<unknown>>

const batchesOf = new WeakMap<object, Batches>()

/**
 * Reads a record by id. Reads of one organization and collection that are asked for in the same turn of the event loop
 * share one command (the pattern of DataLoader). The command leaves after all of them were asked for, so none gets an
 * answer that is older than its question, and each gets a record of its own. A command costs the driver and the server
 * about as much for fifty ids as for one.
 */
export function readTogether<T>(model: Model<T>, organization: Types.ObjectId, id: Types.ObjectId): Promise<T | null> {
  const batches = batchesIn(model)
  const open = batches.get(organization.toHexString()) as Batch<T> | undefined
  const batch = open && open.size < MAX_IDS ? open : openBatch(model, organization, batches)
  const { promise, resolve, reject } = Promise.withResolvers<T | null>()
  const waiting = batch.get(id.toHexString()) ?? []
  waiting.push({ resolve, reject })
  batch.set(id.toHexString(), waiting)
  return promise
}

/** Begins a batch, whose command leaves at the end of this turn. */
function openBatch<T>(model: Model<T>, organization: Types.ObjectId, batches: Batches): Batch<T> {
  const key = organization.toHexString()
  const batch: Batch<T> = new Map()
  batches.set(key, batch as Batch<unknown>)
  setImmediate(() => {
    if (batches.get(key) === batch) batches.delete(key)
    void answer(model, organization, batch)
  })
  return batch
}

function batchesIn(model: object): Batches {
  const known = batchesOf.get(model)
  if (known) return known
  const batches: Batches = new Map()
  batchesOf.set(model, batches)
  return batches
}

/** Reads the records of a batch and hands them out. */
async function answer<T>(model: Model<T>, organization: Types.ObjectId, batch: Batch<T>): Promise<void> {
  try {
    const _id = { $in: Array.from(batch.keys(), id => new Types.ObjectId(id)) }
    const options = { raw: true, maxTimeMS: READ_MS } as const
    const found = await translateErrors(model.collection.find({ organization, _id } as never, options).toArray())
    const read = documentReader<T & { _id: Types.ObjectId }>()
    for (const document of found as unknown as Uint8Array[]) {
      const record = read(document)
      const id = record._id.toHexString()
      const [first, ...others] = batch.get(id) ?? []
      first?.resolve(record)
      for (const { resolve } of others) resolve(read(document))
      batch.delete(id)
    }
    for (const missing of batch.values()) for (const { resolve } of missing) resolve(null)
  } catch (error) {
    for (const waiting of batch.values()) for (const { reject } of waiting) reject(error)
  }
}
