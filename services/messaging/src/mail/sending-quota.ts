import { objectId } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Config } from '../config.ts'

/** How many messages an organization handed to mail servers, in the last minute and today. */
export type SendingQuota = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Increases with each change, so that of concurrent ones one is repeated. */
  version: number
  /** Messages by second, in seconds since 1970; the last minute only. */
  seconds: { at: number; count: number }[]
  /** The day in UTC, as 2026-01-31, and its messages. */
  day: string
  dayCount: number
}

export const sendingQuotaSchema = new Schema<SendingQuota>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    version: { type: Number, default: 0 },
    seconds: { type: [Schema.Types.Mixed] as never, default: [] },
    day: { type: String, default: '' },
    dayCount: { type: Number, default: 0 },
  },
  { collection: 'sending_quotas', versionKey: false },
)
sendingQuotaSchema.index({ organization: 1 }, { unique: true })

/** Messages that may go now, and if none may, after how many milliseconds to ask again. */
export type Grant = { granted: number; waitMs: number }

/** A second counts as a whole, and messages leave within a second, so that no 60 seconds have more than the limit. */
const WINDOW_SECONDS = 62
/** Asks again at least this often: another replica may have other limits. */
const MAX_WAIT_MS = 60_000
const DAY_MS = 24 * 3_600_000

/** Counts up to `wanted` messages, across all replicas: as many as the quotas of the organization allow now. */
export async function takeQuota(
  { sendingQuotas }: Pick<Tenant, 'sendingQuotas'>,
  limits: Pick<Config, 'MAIL_PER_MINUTE' | 'MAIL_PER_DAY'>,
  wanted: number,
  now = Date.now,
): Promise<Grant> {
  if (limits.MAIL_PER_MINUTE === 0 && limits.MAIL_PER_DAY === 0) return { granted: wanted, waitMs: 0 }
  for (;;) {
    const used = await sendingQuotas.findOne({})
    const { grant, next } = grantOf(used, limits, wanted, now())
    if (grant.granted === 0) return grant
    const filter = { version: used?.version ?? 0 }
    const changed = used
      ? (await sendingQuotas.updateOne(filter, { $set: next, $inc: { version: 1 } })).matchedCount
      : await insertFirst(sendingQuotas, next)
    if (changed === 1) return grant
  }
}

/** Stores the first count of an organization; returns 0 if a concurrent call did. */
async function insertFirst(sendingQuotas: Tenant['sendingQuotas'], next: Counts): Promise<number> {
  const { upsertedCount } = await sendingQuotas.updateOne(
    { organization: objectId(sendingQuotas.organization) },
    { $setOnInsert: { ...next, version: 1 } },
    { upsert: true },
  )
  return upsertedCount
}

type Counts = Pick<SendingQuota, 'seconds' | 'day' | 'dayCount'>

function grantOf(
  used: Counts | null,
  { MAIL_PER_MINUTE, MAIL_PER_DAY }: Pick<Config, 'MAIL_PER_MINUTE' | 'MAIL_PER_DAY'>,
  wanted: number,
  now: number,
): { grant: Grant; next: Counts } {
  const second = Math.floor(now / 1000)
  const day = new Date(now).toISOString().slice(0, 10)
  const recent = (used?.seconds ?? []).filter(({ at }) => at > second - WINDOW_SECONDS)
  const dayCount = used?.day === day ? used.dayCount : 0
  const inMinute = recent.reduce((sum, { count }) => sum + count, 0)
  const minuteRoom = MAIL_PER_MINUTE === 0 ? wanted : MAIL_PER_MINUTE - inMinute
  const dayRoom = MAIL_PER_DAY === 0 ? wanted : MAIL_PER_DAY - dayCount
  const granted = Math.max(0, Math.min(wanted, minuteRoom, dayRoom))
  const next = { seconds: added(recent, second, granted), day, dayCount: dayCount + granted }
  if (granted > 0) return { grant: { granted, waitMs: 0 }, next }
  const freeAt = dayRoom <= 0 ? (Math.floor(now / DAY_MS) + 1) * DAY_MS : (recent[0]!.at + WINDOW_SECONDS) * 1000
  return { grant: { granted, waitMs: Math.min(MAX_WAIT_MS, Math.max(1, freeAt - now)) }, next }
}

function added(recent: SendingQuota['seconds'], second: number, count: number): SendingQuota['seconds'] {
  const last = recent.at(-1)
  if (last?.at !== second) return [...recent, { at: second, count }]
  return [...recent.slice(0, -1), { at: second, count: last.count + count }]
}
