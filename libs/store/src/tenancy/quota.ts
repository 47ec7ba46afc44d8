import { AppError } from '@rollcall/contract'
import { type ClientSession, Schema, type Types } from 'mongoose'
import { connectionOf, type Store } from './connection.ts'
import { retryTransaction, translateErrors } from './errors.ts'
import type { Filter, Scope } from './scope.ts'

type Turnstile = { organization: Types.ObjectId; name: string; passes: number }

const turnstileSchema = new Schema<Turnstile>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    passes: { type: Number, required: true },
  },
  { collection: 'quotas', versionKey: false },
)
turnstileSchema.index({ organization: 1, name: 1 }, { unique: true })

/** Declares the collection that quotas are held by, for `migrate`. */
export function quotaModel(store: Pick<Store, 'model'>) {
  return store.model('Quota', turnstileSchema)
}

/**
 * The maximum number of records of a scope (those matching `of`) per organization, and what they are called:
 * `1000 lists per organization`. `retryAfterSeconds` if the number falls by itself.
 */
export type Quota = { limit: number; what: string; of?: Filter; retryAfterSeconds?: number }

/**
 * Refuses another record if the organization has reached its limit. Call it in the transaction that creates the record:
 * concurrent ones conflict and are retried one after another.
 * @throws {AppError} quota.exceeded, or quota.too_many_pending with `retryAfterSeconds`
 */
export async function requireRoom<T extends object>(
  scope: Scope<T>,
  { limit, what, of = {}, retryAfterSeconds }: Quota,
  tx: ClientSession,
): Promise<void> {
  const turnstiles = connectionOf(tx).collection<Turnstile>('quotas')
  const own = { organization: scope.organization, name: scope.model.collection.name }
  await translateErrors(turnstiles.updateOne(own, { $inc: { passes: 1 } }, { session: tx, upsert: true })).catch(
    retryTransaction,
  )
  if ((await scope.count(of, { tx })) < limit) return
  if (retryAfterSeconds === undefined) throw new AppError('quota.exceeded', { limit, what })
  throw new AppError('quota.too_many_pending', { limit, what, retryAfterSeconds })
}
