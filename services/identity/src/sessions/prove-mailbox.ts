import { type Call, type Caller, serviceCaller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import { deactivateTokensOf } from '../tokens/deactivate-tokens.ts'
import type { User } from '../users/user.model.ts'
import { withdrawAll } from '../workspaces/invitation-outcome.ts'
import { endSessionsOf } from './end-sessions.ts'

/** Maximum number of other accounts of an address handled by one proof; the next proof continues. */
const MAX_OTHERS = 100

/**
 * Whether a stranger may have registered an account's address. Then the first proof of the mailbox removes the second
 * factor, which its owner may not have.
 */
export function isUnprovenRegistration({ selfRegistered, emailVerified }: User): boolean {
  return selfRegistered && !emailVerified
}

/** Returns the fields that change with the first proof of an account's mailbox, unless it sets a new password. */
export function firstProofOf(account: User): Partial<User> {
  return { emailVerified: true, passwordHash: null, ...(isUnprovenRegistration(account) && { totp: null }) }
}

/**
 * Records the first proof that an account's address belongs to its user, in the transaction that marks the account.
 * Revokes what the account was used for before. The caller handles the password and the second factor.
 * @param account the account before the change
 */
export async function recordProof(context: Context, account: User, caller: Caller, tx: ClientSession): Promise<void> {
  const person = asPerson(caller, account)
  await revokeGrants(context, account, person, tx)
  await recordVerified(context, account, person, tx)
}

/**
 * Ends the sessions of an unproven account. If it was self-registered, somebody else may have created it: then also
 * deactivates its API tokens and revokes its invitations.
 */
async function revokeGrants(
  context: Context,
  { _id: subject, selfRegistered }: User,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  await endSessionsOf(context, subject, caller, tx)
  if (!selfRegistered) return
  await deactivateTokensOf(context, subject, caller, tx)
  await withdrawAll(context, { sender: subject }, caller, tx)
}

/** Records that an account's address is verified now; verifies the organization of an owner. */
export async function recordVerified(
  context: Context,
  { organization, _id: subject, role }: User,
  person: Caller,
  tx: ClientSession,
): Promise<void> {
  if (role === 'owner')
    await context.collections.unscoped.organizations.updateOne(
      { _id: organization },
      { $set: { verified: true } },
      { session: tx },
    )
  const data = { userId: String(subject) }
  await publish(context, person, 'user.email_verified', { organization, subject, data }, tx)
}

/**
 * Secures the other, unproven accounts of an address after its mailbox was proven: removes passwords, and revokes what the
 * accounts were used for.
 */
export async function dispossessOthers(context: Context, emailKey: string, { logger }: Call): Promise<void> {
  const others = await context.collections.unscoped.users
    .find({ emailKey, emailVerified: false, passwordHash: { $ne: null } })
    .limit(MAX_OTHERS)
    .lean()
  for (const other of others)
    await dispossess(context, other).catch(err => logger.error({ err }, 'securing an unproven account failed'))
}

function dispossess(context: Context, account: User): Promise<void> {
  const { _id: subject, organization } = account
  const organizationId = String(organization)
  const caller = serviceCaller('identity', organizationId)
  return context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(
      async tx => {
        const unproven = { _id: subject, emailVerified: false }
        const { users } = context.collections.of(organizationId)
        const taken = await users.updateOne(unproven, { $set: { passwordHash: null } }, { tx })
        if (taken.matchedCount === 0) return
        await revokeGrants(context, account, caller, tx)
        const data = { userId: String(subject) }
        await publish(context, caller, 'user.password_removed', { organization, subject, data }, tx, [subject])
      },
      { timeoutMs },
    ),
  )
}
