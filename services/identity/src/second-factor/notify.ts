import type { Call } from '@rollcall/rpc'
import { sendNotice } from '../account/send-notice.ts'
import type { Context } from '../context.ts'
import type { User } from '../users/user.model.ts'

const CHANGES = {
  on: 'a second factor was set up for your account. From now on, signing in needs a code of your authenticator app.',
  off: 'the second factor of your account was turned off. Signing in no longer needs a code.',
  reset:
    'an administrator of your organization turned off the second factor of your account. Sign in and set it up again.',
  codes: 'the recovery codes of your account were replaced. The old ones no longer work.',
} as const

/** Tells a person by mail that their second factor has changed, like `sendNotice`. */
export function notifySecondFactor(
  context: Context,
  user: User,
  change: keyof typeof CHANGES,
  call: Pick<Call, 'logger'>,
): Promise<void> {
  const notice = { purpose: 'second_factor_changed', subject: 'Your second factor has changed' } as const
  return sendNotice(context, user, { ...notice, change: CHANGES[change] }, call)
}
