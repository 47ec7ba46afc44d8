import type { Logger } from '@rollcall/runtime'
import type { Model } from 'mongoose'
import type { Models } from './context.ts'
import { dkimKeyPlace } from './domains/domain.model.ts'
import { apiKeyPlace } from './provider/provider.model.ts'
import type { Sealed, Secrets } from './secrets.ts'
import { secretPlace } from './senders/secret-places.ts'

/** A sealed value in a record: the path where it is stored, and the place it belongs to. */
type Held = { path: string; sealed: Sealed | null; place: string }

/**
 * Encrypts every stored secret under the newest key that is not yet; after it the older keys can leave the ring. It can run
 * beside the services and as often as one likes: what is written meanwhile stays. Answers how many secrets it wrote.
 */
export async function rotateSecrets(
  { providers, domains, senders }: Pick<Models, 'providers' | 'domains' | 'senders'>,
  secrets: Secrets,
  logger: Logger,
): Promise<number> {
  const counts = {
    providers: await rotateAll(providers, secrets, record => [
      { path: 'apiKey', sealed: record.apiKey, place: apiKeyPlace(record.organization) },
    ]),
    domains: await rotateAll(domains, secrets, record =>
      record.dkimKeys.map(({ privateKey }, index) => ({
        path: `dkimKeys.${index}.privateKey`,
        sealed: privateKey,
        place: dkimKeyPlace(record),
      })),
    ),
    senders: await rotateAll(senders, secrets, record => [
      { path: 'smtpPassword', sealed: record.smtpPassword, place: secretPlace.password(record) },
      { path: 'oauthTokens', sealed: record.oauthTokens, place: secretPlace.tokens(record) },
    ]),
  }
  logger.info(counts, 'secrets encrypted under the newest key')
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

async function rotateAll<T>(model: Model<T>, secrets: Secrets, heldBy: (record: T) => Held[]): Promise<number> {
  let count = 0
  for await (const found of model.find().lean().cursor()) {
    const record = found as T & { _id: unknown }
    for (const { path, sealed, place } of heldBy(record)) {
      if (!sealed || !secrets.isStale(sealed)) continue
      // The old value, which no other has the iv of, is what makes way: a secret set meanwhile is not overwritten.
      const old = { _id: record._id, [`${path}.iv`]: sealed.iv } as object
      const renewed = { $set: { [path]: secrets.seal(secrets.open(sealed, place), place) } } as object
      count += (await model.collection.updateOne(old, renewed)).modifiedCount
    }
  }
  return count
}
