import { isDuplicate, retryTransaction, type Unscoped } from '@rollcall/store'
import { type ClientSession, Schema } from 'mongoose'

/** Uses since the start of a window. */
export type UsageWindow = { _id: string; count: number; endsAt: Date }

export const usageWindowSchema = new Schema<UsageWindow>(
  {
    _id: { type: String, required: true },
    count: { type: Number, required: true },
    endsAt: { type: Date, required: true },
  },
  { collection: 'usage_windows', versionKey: false },
)
usageWindowSchema.index({ endsAt: 1 }, { expireAfterSeconds: 0 })

/**
 * Counts one use, across all replicas. Returns undefined within the limit, otherwise the seconds until the key's window
 * ends. A window starts with the first use after the previous one has ended. In a transaction, the use counts only if it
 * commits.
 */
export async function countUse(
  windows: Unscoped<UsageWindow>,
  key: string,
  { limit, seconds, tx }: { limit: number; seconds: number; tx?: ClientSession | undefined },
): Promise<number | undefined> {
  const session = tx ?? null
  for (;;) {
    const now = new Date()
    const counted = await windows
      .findOneAndUpdate(
        { _id: key, endsAt: { $gt: now } },
        { $inc: { count: 1 } },
        { returnDocument: 'after', session },
      )
      .lean<UsageWindow>()
    if (counted && counted.count > limit) return secondsUntil(counted.endsAt)
    if (counted || (await begin(windows, key, now, seconds, tx))) return undefined
  }
}

/** Whole seconds from now, not from the start of the call: a concurrent one may have begun the window since. */
function secondsUntil(time: Date): number {
  return Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000))
}

/** Starts a window; returns false if a concurrent call did, which in a transaction makes it start again. */
async function begin(
  windows: Unscoped<UsageWindow>,
  key: string,
  now: Date,
  seconds: number,
  tx: ClientSession | undefined,
): Promise<boolean> {
  const fresh = { $set: { count: 1, endsAt: new Date(now.getTime() + seconds * 1000) } }
  try {
    await windows.updateOne({ _id: key, endsAt: { $lte: now } }, fresh, { upsert: true, ...(tx && { session: tx }) })
    return true
  } catch (error) {
    if (tx) retryTransaction(error)
    if (isDuplicate(error)) return false
    throw error
  }
}
