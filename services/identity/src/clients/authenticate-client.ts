import { hashSecret, sameHash } from '@rollcall/credentials'
import type { ExchangeTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import type { Client } from './client.model.ts'

const dayMs = 24 * 3_600_000
const keptDays = 90

/**
 * The client that asks, proved by its secret if it has one; being used keeps it.
 * @throws {AppError} invalid_client, for whatever reason: unknown, forgotten, no secret or a wrong one
 */
export async function authenticateClient(
  { models, tokenKey }: Context,
  { clientId, clientSecret }: Pick<ExchangeTokenRequest, 'clientId' | 'clientSecret'>,
): Promise<Client> {
  const known = clientId !== undefined && { clientId, expiresAt: { $gt: new Date() } }
  const client = known ? await models.clients.findOne(known).lean() : null
  if (!client || !fits(client, clientSecret, tokenKey))
    throw new AppError('invalid_client', { message: 'Unknown client, or a wrong secret.' })
  await keep(models, client)
  return client
}

function fits({ secretHash }: Client, secret: string | undefined, key: Context['tokenKey']): boolean {
  if (secretHash === null || secret === undefined) return secretHash === null && secret === undefined
  return sameHash(secretHash, hashSecret(secret, key))
}

/** Once a day is enough. */
async function keep({ clients }: Context['models'], { _id, expiresAt }: Client): Promise<void> {
  const until = Date.now() + keptDays * dayMs
  if (until - expiresAt.getTime() > dayMs) await clients.updateOne({ _id }, { $set: { expiresAt: new Date(until) } })
}
