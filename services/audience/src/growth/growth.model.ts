import { startOf } from '@rollcall/contract'
import { Schema, type Types } from 'mongoose'

/** What is counted by day. */
export const growthKinds = ['created', 'unsubscribed', 'blocked', 'deleted'] as const
export type GrowthKind = (typeof growthKinds)[number]

/**
 * How many contacts of an organization, or members of a list, came, left, opted out and were blocked in a month, by day.
 * Changes in the transaction that changes them.
 */
export type GrowthMonth = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** The list; null for all contacts. */
  list: Types.ObjectId | null
  /** The first day, at midnight UTC. */
  month: Date
  /** A month is the sum of its slots, so that concurrent transactions rarely conflict. */
  slot: number
  /** By day of the month. */
  days: Record<string, Partial<Record<GrowthKind, number>>>
}

export const growthSchema = new Schema<GrowthMonth>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    list: { type: Schema.Types.ObjectId, default: null },
    month: { type: Date, required: true },
    slot: { type: Number, required: true },
    days: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'growth', minimize: false, versionKey: false },
)
growthSchema.index({ organization: 1, list: 1, month: 1, slot: 1 }, { unique: true })

/** Counts by day, as milliseconds of its midnight UTC. */
export type GrowthDays = Map<number, Record<GrowthKind, number>>

/** Returns the counts of a day, from now on part of `days`. */
export function dayOf(days: GrowthDays, at: Date | number): Record<GrowthKind, number> {
  const day = startOf('day', new Date(at)).getTime()
  const counts = days.get(day) ?? { created: 0, unsubscribed: 0, blocked: 0, deleted: 0 }
  days.set(day, counts)
  return counts
}

/** Sums months up by day. */
export function daysOf(months: readonly GrowthMonth[]): GrowthDays {
  const sums: GrowthDays = new Map()
  for (const { month, days } of months)
    for (const [day, counts] of Object.entries(days)) {
      const sum = dayOf(sums, Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), Number(day)))
      for (const kind of growthKinds) sum[kind] += counts[kind] ?? 0
    }
  return sums
}
