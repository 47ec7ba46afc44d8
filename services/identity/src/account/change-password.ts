import { AppError } from '@rollcall/contract'
import type { ChangePasswordRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { isCommonPassword } from '../users/common-passwords.ts'
import { setterOf } from '../users/passwords.ts'
import { requireOwnPassword } from './own-password.ts'
import { endOtherSessions } from './own-sessions.ts'
import { PASSWORD_CHANGED, sendNotice } from './send-notice.ts'

/**
 * Changes the caller's password, and ends the other sessions and open password resets of the account. Tells the person
 * by mail.
 */
export async function changePassword(context: Context, request: ChangePasswordRequest, call: Call): Promise<void> {
  const { caller } = call
  const { organizationId } = caller
  const { users, passwordResets } = context.collections.of(organizationId)
  const user = await users.get(caller.userId!, 'user')
  await requireOwnPassword(context, user, { password: request.currentPassword, path: 'currentPassword' }, call)
  if (isCommonPassword(request.newPassword))
    throw new AppError('request.invalid_field', { path: 'newPassword', reason: 'too common, choose another' })
  const passwordHash = await context.passwords.hash(request.newPassword, setterOf(caller))
  await context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(
      async tx => {
        const unchanged = { _id: user._id, passwordHash: user.passwordHash }
        const changed = await users.updateOne(unchanged, { $set: { passwordHash } }, { tx })
        // Somebody else changed it meanwhile.
        if (changed.matchedCount === 0) throw new AppError('request.invalid_field', { path: 'currentPassword' })
        await passwordResets.deleteMany({ user: user._id }, { tx })
        await endOtherSessions(context, caller, tx)
        const { _id: subject, organization } = user
        const data = { userId: String(subject) }
        await publish(context, caller, 'user.password_set', { organization, subject, data }, tx)
      },
      { timeoutMs },
    ),
  )
  sendNotice(context, user, PASSWORD_CHANGED, call)
}
