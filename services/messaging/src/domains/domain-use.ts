import { AppError } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'

/**
 * Acquires a domain for a sender, in the transaction that creates the sender. A domain in use cannot be deleted.
 * @throws {AppError} domain.not_verified unless the domain may send
 */
export async function acquireDomain(
  { domains }: Pick<Tenant, 'domains'>,
  domain: string,
  tx: ClientSession,
): Promise<void> {
  const { matchedCount } = await domains.updateOne({ domain, verified: true }, { $inc: { senders: 1 } }, { tx })
  if (matchedCount === 0) throw new AppError('domain.not_verified', { domain })
}

/** Releases the domain of a sender, in the transaction that removes the sender. */
export async function releaseDomain(
  { domains }: Pick<Tenant, 'domains'>,
  domain: string,
  tx: ClientSession,
): Promise<void> {
  await domains.updateOne({ domain }, { $inc: { senders: -1 } }, { tx })
}
