import type { Context } from '../context.ts'
import type { User } from './user.model.ts'

/** Maximum accounts of one address per request, since each may cost a password hash. */
const MAX_ACCOUNTS = 4

/**
 * Returns at most four accounts of an address, in all organizations or in one. Proven accounts come first,
 * self-registered ones last; the oldest come first within each group.
 */
export function accountsOf(
  { collections }: Pick<Context, 'collections'>,
  emailKey: string,
  organization: string | undefined,
): Promise<User[]> {
  return collections.unscoped.users
    .find({ emailKey, ...(organization !== undefined && { organization }) })
    .sort({ emailVerified: -1, selfRegistered: 1, _id: 1 })
    .limit(MAX_ACCOUNTS)
    .lean()
}

/**
 * Returns the accounts with the best claim to their address, so that a new registration cannot compete with its owner.
 */
export function foremost(accounts: readonly User[]): User[] {
  const best = Math.max(...accounts.map(claimOf))
  return accounts.filter(account => claimOf(account) === best)
}

function claimOf({ emailVerified, selfRegistered }: User): number {
  if (emailVerified) return 2
  return selfRegistered ? 0 : 1
}
