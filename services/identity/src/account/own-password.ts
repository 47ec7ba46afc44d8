import { AppError } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { reportFailure } from '../sessions/report-failure.ts'
import type { User } from '../users/user.model.ts'

/**
 * Requires the password of a signed-in user. A wrong one counts as a failed sign-in, so that a stolen session cannot
 * guess it.
 * @throws {AppError} request.invalid_field at `path`, also while the account is locked
 */
export async function requireOwnPassword(
  context: Context,
  user: User,
  { password, path }: { password: string; path: string },
  call: Call,
): Promise<void> {
  const { passwords, signInThrottle } = context
  const fits = () => passwords.fits(password, user.passwordHash ?? undefined)
  const outcome = await signInThrottle.look(String(user._id), fits, { isPartial: hasSecondFactor(user) })
  if (outcome === 'right') return
  reportFailure(context, outcome === 'wrong' ? 'password' : outcome, [user], call)
  throw new AppError('request.invalid_field', { path })
}
