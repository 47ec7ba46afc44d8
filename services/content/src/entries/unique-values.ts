import { AppError, emailKeyOf } from '@rollcall/contract'
import { retryTransaction } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Collection } from '../collections/collection.model.ts'
import type { Field } from '../collections/fields.ts'
import type { PathOf, Value, Values } from '../collections/values.ts'
import type { Tenant } from '../collections.ts'

/**
 * Reserves the values of the unique fields for an entry, instead of those it had. Call it in the transaction that writes
 * the entry.
 * @throws {AppError} record.duplicate for the first value that another entry has
 */
export async function reserveValues(
  { uniqueValues }: Tenant,
  { _id: parent, fields }: Collection,
  entry: Types.ObjectId,
  values: Values,
  pathOf: PathOf,
): Promise<void> {
  const reserved = fields.filter(({ unique, slug }) => unique && Object.hasOwn(values, slug))
  const wanted = reserved.map(field => ({ parent, field: field.slug, key: keyOf(field, values[field.slug]!), entry }))
  await uniqueValues.deleteMany({ entry })
  if (wanted.length === 0) return
  const taken = await uniqueValues.find({ $or: wanted.map(({ field, key }) => ({ parent, field, key })) })
  const duplicate = wanted.find(({ field }) => taken.some(other => other.field === field))
  if (duplicate) throw new AppError('record.duplicate', { path: pathOf(duplicate.field) })
  await uniqueValues.insertMany(wanted).catch(retryTransaction) // reserved by another transaction meanwhile
}

function keyOf({ type }: Field, value: Value): string {
  if (value instanceof Date) return value.toISOString()
  return type === 'email' ? emailKeyOf(String(value)) : String(value)
}
