import type { Sealed, Secrets } from '@rollcall/credentials'
import type { Logger } from '@rollcall/runtime'
import type { Unscoped } from '@rollcall/store'

/** A sealed value in a record: its path, and its place (see `Secrets`). */
export type Held = { path: string; sealed: Sealed | null | undefined; place: string }

/** A collection whose records hold sealed values. */
export type SecretHolder = { staleIn(secrets: Secrets): AsyncGenerator<Stale> }

/** A value that is not encrypted with the newest key, and its record. */
type Stale = Held & { sealed: Sealed; collection: Unscoped<unknown>['collection']; _id: unknown }

/** Declares the sealed values in the records of a collection. */
export function holderOf<T>(model: Unscoped<T>, heldBy: (record: T) => Held[]): SecretHolder {
  return {
    async *staleIn(secrets) {
      const { collection } = model
      for await (const found of model.find().lean().cursor()) {
        const record = found as T & { _id: unknown }
        for (const { path, sealed, place } of heldBy(record))
          if (sealed && secrets.isStale(sealed)) yield { collection, _id: record._id, path, sealed, place }
      }
    },
  }
}

/**
 * Re-encrypts all stored secrets with the newest key, so that older keys can be removed. Idempotent; safe while
 * services run, because concurrent writes are kept. Returns the number of re-encrypted secrets.
 * @throws if some are left: a service still encrypts with an older key
 */
export async function rotateSecrets(
  holders: readonly SecretHolder[],
  secrets: Secrets,
  logger: Logger,
): Promise<number> {
  const { newest: key } = secrets
  let written = 0
  for await (const stale of staleSecrets(holders, secrets)) written += await renew(stale, secrets)
  let left = 0
  for await (const _ of staleSecrets(holders, secrets)) left += 1
  logger.info({ key, written, left }, `secrets encrypted with the key ${key}`)
  if (left > 0) throw new Error(`secrets under another key than ${key}: ${left}`)
  return written
}

async function* staleSecrets(holders: readonly SecretHolder[], secrets: Secrets): AsyncGenerator<Stale> {
  for (const holder of holders) yield* holder.staleIn(secrets)
}

async function renew({ collection, _id, path, sealed, place }: Stale, secrets: Secrets): Promise<number> {
  // Matching the old value's unique iv prevents overwriting a concurrently changed secret.
  const old = { _id, [`${path}.iv`]: sealed.iv } as object
  const renewed = { $set: { [path]: secrets.seal(secrets.open(sealed, place), place) } }
  return (await collection.updateOne(old, renewed)).modifiedCount
}
