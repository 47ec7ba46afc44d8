import { AppError } from '@rollcall/contract'
import type { SecretHasher } from '@rollcall/credentials'
import type { ExchangeTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.model.ts'

const DAY_MS = 24 * 3_600_000
const RETENTION_DAYS = 90

/**
 * Authenticates a client by its id and, for confidential clients, its secret. Extends the client's expiry.
 * @throws {AppError} client.invalid if the client is unknown or expired, or the secret is missing or wrong
 */
export async function authenticateClient(
  { collections, secrets }: Context,
  { clientId, clientSecret }: Pick<ExchangeTokenRequest, 'clientId' | 'clientSecret'>,
): Promise<Client> {
  const known = clientId !== undefined && { clientId, expiresAt: { $gt: new Date() } }
  const client = known ? await collections.unscoped.clients.findOne(known).lean() : null
  if (!client || !fits(client, clientSecret, secrets.client)) throw new AppError('client.invalid')
  await keep(collections, client, renewedHash(client, clientSecret, secrets.client))
  return client
}

function fits({ secretHash }: Client, secret: string | undefined, hasher: SecretHasher): boolean {
  if (secretHash === null || secret === undefined) return secretHash === null && secret === undefined
  return hasher.matches(secretHash, secret)
}

/** Returns the hash under the current key if the stored hash uses an older key. */
function renewedHash({ secretHash }: Client, secret: string | undefined, hasher: SecretHasher): string | undefined {
  return secretHash === null || secret === undefined ? undefined : hasher.renewal(secretHash, hasher.hashes(secret))
}

/** Extends the client's expiry, at most once a day, and stores the renewed hash. */
async function keep(
  { unscoped: { clients } }: Context['collections'],
  { _id, expiresAt }: Client,
  secretHash?: string,
): Promise<void> {
  const until = Date.now() + RETENTION_DAYS * DAY_MS
  const isDue = until - expiresAt.getTime() > DAY_MS
  if (!isDue && secretHash === undefined) return
  await clients.updateOne(
    { _id },
    { $set: { ...(isDue && { expiresAt: new Date(until) }), ...(secretHash && { secretHash }) } },
  )
}
