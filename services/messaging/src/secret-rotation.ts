import type { Logger } from '@rollcall/runtime'
import type { Unscoped } from '@rollcall/store'
import type { Collections } from './collections.ts'
import { dkimKeyPlace } from './domains/domain.model.ts'
import { apiKeyPlace } from './provider/provider.model.ts'
import type { Sealed, Secrets } from './secrets.ts'
import { secretPlace } from './senders/secret-places.ts'

type Holders = Pick<Collections['unscoped'], 'providers' | 'domains' | 'senders' | 'oauthRequests'>
/** A sealed value in a record: its path, and its place (see `Secrets`). */
type Held = { path: string; sealed: Sealed | null; place: string }
/** A value that is not encrypted with the newest key, and its record. */
type Stale = Held & { sealed: Sealed; collection: Unscoped<unknown>['collection']; _id: unknown }

/**
 * Re-encrypts all stored secrets with the newest key, so that older keys can be removed. Idempotent; safe while
 * services run, because concurrent writes are kept. Returns the number of re-encrypted secrets.
 * @throws if some are left: a service still encrypts with an older key
 */
export async function rotateSecrets(holders: Holders, secrets: Secrets, logger: Logger): Promise<number> {
  const { newest: key } = secrets
  let written = 0
  for await (const stale of staleSecrets(holders, secrets)) written += await renew(stale, secrets)
  let left = 0
  for await (const _ of staleSecrets(holders, secrets)) left += 1
  logger.info({ key, written, left }, `secrets encrypted with the key ${key}`)
  if (left > 0) throw new Error(`secrets under another key than ${key}: ${left}`)
  return written
}

async function renew({ collection, _id, path, sealed, place }: Stale, secrets: Secrets): Promise<number> {
  // Matching the old value's unique iv prevents overwriting a concurrently changed secret.
  const old = { _id, [`${path}.iv`]: sealed.iv } as object
  const renewed = { $set: { [path]: secrets.seal(secrets.open(sealed, place), place) } }
  return (await collection.updateOne(old, renewed)).modifiedCount
}

async function* staleSecrets(
  { providers, domains, senders, oauthRequests }: Holders,
  secrets: Secrets,
): AsyncGenerator<Stale> {
  yield* staleIn(providers, secrets, record => [
    { path: 'apiKey', sealed: record.apiKey, place: apiKeyPlace(record.organization) },
  ])
  yield* staleIn(domains, secrets, record =>
    record.dkimKeys.map(({ privateKey }, index) => ({
      path: `dkimKeys.${index}.privateKey`,
      sealed: privateKey,
      place: dkimKeyPlace(record),
    })),
  )
  yield* staleIn(senders, secrets, record => [
    { path: 'smtpPassword', sealed: record.smtpPassword, place: secretPlace.password(record) },
    { path: 'oauthTokens', sealed: record.oauthTokens, place: secretPlace.tokens(record) },
  ])
  yield* staleIn(oauthRequests, secrets, record => [
    { path: 'verifier', sealed: record.verifier, place: secretPlace.verifier(record) },
  ])
}

async function* staleIn<T>(model: Unscoped<T>, secrets: Secrets, heldBy: (record: T) => Held[]): AsyncGenerator<Stale> {
  const { collection } = model
  for await (const found of model.find().lean().cursor()) {
    const record = found as T & { _id: unknown }
    for (const { path, sealed, place } of heldBy(record))
      if (sealed && secrets.isStale(sealed)) yield { collection, _id: record._id, path, sealed, place }
  }
}
