import type { Call } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Context } from '../context.ts'
import { eventOf } from '../events.ts'
import type { User } from '../users/user.model.ts'
import { seenOf } from './begin-session.ts'

/** Why a sign-in failed; throttled: the account is locked, so nothing was checked. */
export type FailureReason = 'password' | 'code' | 'second_factor' | 'blocked' | 'throttled'

/**
 * Counts a failed sign-in and publishes it to the organizations of the affected accounts. Returns immediately, so that
 * response time does not reveal whether accounts exist. Throttled attempts are only counted, to avoid a flood of
 * events.
 */
export function reportFailure(
  { store, countSignInFailure }: Pick<Context, 'store' | 'countSignInFailure'>,
  reason: FailureReason,
  accounts: readonly User[],
  { caller, logger }: Call,
): void {
  countSignInFailure(reason)
  if (reason === 'throttled' || accounts.length === 0) return
  const at = new Date()
  const events = accounts.map(({ _id, organization }) => {
    const data = { userId: String(_id), reason, ...seenOf(caller), at }
    return eventOf('session.failed', { organization, subject: _id, data }, caller)
  })
  store
    .transaction(tx => addEvents(tx, events))
    .catch(err => logger.error({ err }, 'publishing a failed sign-in failed'))
}
