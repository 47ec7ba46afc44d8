import { AppError } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Collection } from '../collections/collection.model.ts'
import { type PathOf, valuesOf } from '../collections/values.ts'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { type Entry, publicEntry } from './entry.model.ts'

import { reserveValues } from './unique-values.ts'

/** A new entry, as it arrives. */
export type NewEntry = {
  given: Record<string, unknown>
  source: Entry['source']
  createdBy: Actor
  pathOf: PathOf
}

/**
 * Adds an entry to a collection: the entry, its unique values, the count and the event, in a transaction of the caller.
 * @throws {AppError} collection.not_found, request.*, record.duplicate, quota.exceeded
 */
export async function addEntry(
  { config }: Context,
  tenant: Tenant,
  id: string | Types.ObjectId,
  { given, source, createdBy, pathOf }: NewEntry,
  tx: ClientSession,
): Promise<{ entry: Entry; collection: Collection }> {
  // First, so that the fields do not change until the commit.
  const counted = { $inc: { entryCount: 1 } }
  const collection = await tenant.collections.findOneAndUpdate({ _id: id }, counted, { timestamps: false })
  if (!collection) throw new AppError('collection.not_found')
  const limit = config.ENTRIES_PER_COLLECTION
  if (collection.entryCount > limit) throw new AppError('quota.exceeded', { limit, what: 'entries per collection' })
  const values = valuesOf(collection.fields, given, pathOf)
  const _id = new Types.ObjectId()
  await reserveValues(tenant, collection, _id, values, pathOf)
  const entry = await tenant.entries.insertOne({ _id, parent: collection._id, values, source, createdBy })
  await addEvents(tx, [event('collection.entry_created', entry, { entry: publicEntry(entry), actor: createdBy })])
  return { entry, collection }
}
