import { generateSecret, hashSecret } from '@rollcall/credentials'
import type { ResetPasswordRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError, type Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { tell } from '../events.ts'
import type { Mail } from '../mailer.ts'
import { endSessions } from '../sessions/end-sessions.ts'
import type { User } from './user.model.ts'

const invitationDays = 7

/** Lets a new person set a password, within the transaction that makes the account; answers the mail that says how. */
export async function invite(
  { within, tokenKey, consoleUrl }: Context,
  { _id: user, organization, email, name }: User,
  tx: ClientSession,
): Promise<Mail> {
  const secret = generateSecret()
  const expiresAt = new Date(Date.now() + invitationDays * 24 * 3_600_000)
  await within(organization).passwordResets.insertOne(
    { user, hash: hashSecret(secret, tokenKey), expiresAt },
    { session: tx },
  )
  const text = [
    `Hello ${name},`,
    'an account was made for you. Set its password here:',
    `${consoleUrl}/set-password?token=${secret}`,
    `The link works once, within ${invitationDays} days.`,
  ].join('\n\n')
  return { to: email, subject: 'Set your password', text }
}

/**
 * Sets the password of whoever got the mail, who thereby shows that the address is theirs. Every session of the account
 * ends: if someone else knew the old password, they are out.
 */
export async function resetPassword(
  context: Context,
  { token, password }: ResetPasswordRequest,
  caller: Caller,
): Promise<void> {
  const hash = hashSecret(token, context.tokenKey)
  const reset = await context.models.passwordResets.findOne({ hash, expiresAt: { $gt: new Date() } }).lean()
  if (!reset) throw unusable()
  const passwordHash = await context.passwords.hash(password)
  const organizationId = String(reset.organization)
  await context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(
      async tx => {
        const { users, passwordResets } = context.within(organizationId)
        const used = await passwordResets.deleteOne({ hash }, { session: tx })
        const set = { passwordHash, emailVerified: true }
        const user = await users.findOneAndUpdate({ _id: reset.user }, { $set: set }, { session: tx })
        if (used.deletedCount === 0 || !user) throw unusable()
        await passwordResets.deleteMany({ user: user._id }, { session: tx })
        const person: Caller = {
          ...caller,
          kind: 'session',
          organizationId,
          userId: String(user._id),
          userName: user.name,
        }
        await endSessions(context, { user: user._id }, person, tx)
        const data = { userId: String(user._id) }
        await tell(
          context,
          person,
          'user.password_set',
          { organization: user.organization, subject: user._id, data },
          tx,
        )
      },
      { timeoutMs },
    ),
  )
}

function unusable(): AppError {
  return new AppError('bad_request', { message: 'the link has expired or was used', path: 'token' })
}
