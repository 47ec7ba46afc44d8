import type { Context } from '../context.ts'
import type { User } from './user.model.ts'

/** How many accounts of one address a request looks at: each may cost a password hash. */
const MAX_ACCOUNTS = 4

/**
 * The accounts of an address, in every organization or in one: first those whose mailbox was proven, last those that
 * were registered openly, the oldest first among equals. At most four.
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

/** Of accounts of one address, those with the best claim to it: nobody who registers it competes with its holder. */
export function foremost(accounts: readonly User[]): User[] {
  const best = Math.max(...accounts.map(claimOf))
  return accounts.filter(account => claimOf(account) === best)
}

function claimOf({ emailVerified, selfRegistered }: User): number {
  if (emailVerified) return 2
  return selfRegistered ? 0 : 1
}
