import { pause } from '@rollcall/runtime'
import { Schema, type Types } from 'mongoose'
import type { Scope } from '../tenancy/scope.ts'

/** Keys that somebody is acting on after having checked them. */
export type Hold = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  keys: string[]
  until: Date
}

const POLL_MS = 10
/** Clocks of replicas may differ by this. */
const SKEW_MS = 250

/** The schema of a service's holds. There are few at a time, so that they need no index by key. */
export const holdSchema = new Schema<Hold>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    keys: { type: [String], required: true },
    until: { type: Date, required: true },
  },
  { collection: 'holds', versionKey: false },
)
holdSchema.index({ organization: 1, until: 1 })
holdSchema.index({ until: 1 }, { expireAfterSeconds: 60 })

/**
 * Holds keys for some time. Hold them before the check, and act on what was checked within that time. A writer that
 * changes one of them and calls `untilReleased` then knows that nobody acts on the old state any more. No other writer
 * waits. Returns the id for `releaseHold`.
 */
export async function placeHold(holds: Scope<Hold>, keys: readonly string[], ms: number): Promise<string> {
  const { _id } = await holds.insertOne({ keys: [...keys], until: new Date(Date.now() + ms) })
  return String(_id)
}

/** Ends a hold before its time. */
export async function releaseHold(holds: Scope<Hold>, id: string): Promise<void> {
  await holds.deleteOne({ _id: id })
}

/** Resolves when nobody holds any of the keys. Call it after the change is committed, before it is answered. */
export async function untilReleased(holds: Scope<Hold>, keys: readonly string[]): Promise<void> {
  const held = () => ({ keys: { $in: [...keys] }, until: { $gt: new Date(Date.now() - SKEW_MS) } })
  while (await holds.findOne(held(), { projection: { _id: 1 } })) await pause(POLL_MS)
}

/**
 * Resolves when the holds that exist now have ended, whatever their keys. For changes of many records, and for those whose
 * keys are not known any more; otherwise as `untilReleased`.
 */
export async function untilAllReleased(holds: Scope<Hold>): Promise<void> {
  const isOpen = () => ({ until: { $gt: new Date(Date.now() - SKEW_MS) } })
  const placed = await holds.find(isOpen(), { projection: { _id: 1 } })
  const ids = placed.map(({ _id }) => _id)
  if (ids.length === 0) return
  while (await holds.findOne({ _id: { $in: ids }, ...isOpen() }, { projection: { _id: 1 } })) await pause(POLL_MS)
}
