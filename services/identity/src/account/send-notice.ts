import type { Call } from '@rollcall/rpc'
import { quoted } from '@rollcall/runtime'
import type { Context } from '../context.ts'
import type { Mail } from '../mailer.ts'
import type { User } from '../users/user.model.ts'

/** What a notice says: the subject, and what has changed, as a sentence. */
type Notice = Pick<Mail, 'purpose' | 'subject'> & { change: string }

/** The notice of a new password. */
export const PASSWORD_CHANGED: Notice = {
  purpose: 'password_changed',
  subject: 'Your password was changed',
  change: 'the password of your account was changed.',
}

/**
 * Tells a person by mail that the own account has changed. Logs a failure. Only a process that ends next needs to wait.
 */
export function sendNotice(
  { mailer }: Context,
  { _id, organization, name, email }: User,
  { change, ...notice }: Notice,
  { logger }: Pick<Call, 'logger'>,
): Promise<void> {
  const text = [
    `Hello ${quoted(name)},`,
    change,
    'If you did not expect this, tell an administrator of your organization at once.',
  ].join('\n\n')
  return mailer
    .send({ organizationId: String(organization), userId: String(_id), to: email, text, ...notice })
    .catch(err => logger.error({ err, purpose: notice.purpose }, 'notice of a changed account failed'))
}
