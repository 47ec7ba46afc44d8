import type { Collections } from './collections.ts'

type Holders = Pick<Collections['unscoped'], 'tokens' | 'clients' | 'invitations' | 'passwordResets' | 'emailChanges'>

/** Counts valid secrets that are hashed under a key other than this one, by kind. */
export async function countStaleHashes(
  { tokens, clients, invitations, passwordResets, emailChanges }: Holders,
  key: string,
): Promise<Record<keyof Holders, number>> {
  const now = new Date()
  const stale = { $not: new RegExp(`^${key.replace(/\W/g, '\\$&')}:`) }
  const notExpired = { expiresAt: { $gt: now } }
  const [ofTokens, ofClients, ofInvitations, ofResets, ofChanges] = await Promise.all([
    tokens.countDocuments({ hash: stale, archived: false, $or: [{ expiresAt: null }, notExpired] }),
    clients.countDocuments({ secretHash: { $type: 'string', ...stale }, ...notExpired }),
    invitations.countDocuments({ hash: stale, status: 'pending', ...notExpired }),
    passwordResets.countDocuments({ hash: stale, ...notExpired }),
    emailChanges.countDocuments({ hash: stale, ...notExpired }),
  ])
  return {
    tokens: ofTokens,
    clients: ofClients,
    invitations: ofInvitations,
    passwordResets: ofResets,
    emailChanges: ofChanges,
  }
}
