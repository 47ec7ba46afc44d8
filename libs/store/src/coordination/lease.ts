import { type ClientSession, Schema } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate, translateErrors } from '../tenancy/errors.ts'

/** `writes` counts fenced transactions, so that they conflict with a takeover. */
type LeaseRecord = { _id: string; holder: string; until: Date; writes: number }

const leaseSchema = new Schema<LeaseRecord>(
  {
    _id: { type: String, required: true },
    holder: { type: String, required: true },
    until: { type: Date, required: true },
    writes: { type: Number, default: 0 },
  },
  { collection: 'leases', versionKey: false },
)

/** Declares the collection of leases, for `migrate`. */
export function leaseModel(store: Pick<Store, 'model'>) {
  return store.model('Lease', leaseSchema)
}

/** A lease: one replica at a time has it. */
export type Lease = {
  /** Acquires or renews the lease. Returns false while another replica has it. */
  acquire(): Promise<boolean>
  /** Releases it at once. */
  release(): Promise<void>
  /**
   * Fails a transaction unless the lease is held at its commit: another replica that takes it over conflicts with the
   * transaction. Call it first in the transaction. @throws {LeaseLost}
   */
  fence(tx: ClientSession): Promise<void>
}

/** Another replica has the lease: nothing that its former holder still does counts. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Creates the lease of a name. A holder that stops renewing it loses it after `ttlMs`. */
export function createLease(store: Store, name: string, holder: string, ttlMs: number): Lease {
  const leases = leaseModel(store).collection
  const key = { _id: name } as never
  let renewAt = 0
  return {
    async acquire() {
      const now = Date.now()
      if (now < renewAt) return true // most of the TTL is left
      const mineOrOver = { ...(key as object), $or: [{ holder }, { until: { $lt: new Date(now) } }] } as never
      const renewal = { $set: { holder, until: new Date(now + ttlMs) } }
      try {
        const { matchedCount, upsertedCount } = await translateErrors(
          leases.updateOne(mineOrOver, renewal, { upsert: true }),
        )
        const isHeld = matchedCount + upsertedCount > 0
        if (isHeld) renewAt = now + ttlMs / 4
        return isHeld
      } catch (error) {
        if (isDuplicate(error)) return false // another replica has it
        throw error
      }
    },
    async release() {
      renewAt = 0
      await translateErrors(leases.deleteOne({ ...(key as object), holder } as never))
    },
    async fence(tx) {
      const mine = { ...(key as object), holder } as never
      const { matchedCount } = await translateErrors(leases.updateOne(mine, { $inc: { writes: 1 } }, { session: tx }))
      if (matchedCount === 0) throw new LeaseLost(`the lease of ${name} was lost`)
    },
  }
}
