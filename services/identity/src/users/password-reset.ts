import { generateSecret, hashSecret } from '@rollcall/credentials'
import type { ForgotPasswordRequest, ResetPasswordRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError, type Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { asPerson, tell } from '../events.ts'
import type { Mail } from '../mailer.ts'
import { endSessions } from '../sessions/end-sessions.ts'
import { emailKeyOf, type User } from './user.model.ts'

const invitationDays = 7
const resetMinutes = 60
/** Whoever asks again and again fills neither the person's inbox nor the database. */
const maxPending = 5
/** To how many organizations' accounts of one email a mail is sent. */
const maxAccounts = 10

/** Lets a new person set a password, within the transaction that makes the account; answers the mail that says how. */
export async function invite(context: Context, user: User, tx: ClientSession): Promise<Mail> {
  const link = await giveLeave(context, user, invitationDays * 24 * 60, tx)
  return mailOf(user, 'Set your password', [
    'an account was made for you. Set its password here:',
    link,
    `The link works once, within ${invitationDays} days.`,
  ])
}

/** Sends whoever has an account of this email, in any organization or in this one, a mail to set a new password. */
export async function mailResets(context: Context, { email, orgId }: ForgotPasswordRequest): Promise<void> {
  const accounts = await context.models.users
    .find({ emailKey: emailKeyOf(email), blocked: false, ...(orgId && { organization: orgId }) })
    .sort({ _id: 1 })
    .limit(maxAccounts)
    .lean()
  for (const user of accounts) {
    const pending = { user: user._id, expiresAt: { $gt: new Date() } }
    if ((await context.within(user.organization).passwordResets.count(pending)) >= maxPending) continue
    const link = await giveLeave(context, user, resetMinutes)
    const mail = mailOf(user, 'Reset your password', [
      'someone, hopefully you, asked for a new password. Set it here:',
      link,
      `The link works once, within ${resetMinutes} minutes. If it was not you, nothing needs to be done.`,
    ])
    await context.mailer.send(mail)
  }
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
        const person = asPerson(caller, user)
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

/** Lets a user set the password; answers the link to do it by. */
async function giveLeave(
  { within, tokenKey, consoleUrl }: Context,
  { _id: user, organization }: User,
  minutes: number,
  tx?: ClientSession,
): Promise<string> {
  const secret = generateSecret()
  const leave = { user, hash: hashSecret(secret, tokenKey), expiresAt: new Date(Date.now() + minutes * 60_000) }
  await within(organization).passwordResets.insertOne(leave, { session: tx })
  return `${consoleUrl}/set-password?token=${secret}`
}

function mailOf({ _id, organization, email, name }: User, subject: string, paragraphs: string[]): Mail {
  const recipient = { organizationId: String(organization), userId: String(_id), to: email }
  return { ...recipient, subject, text: [`Hello ${name},`, ...paragraphs].join('\n\n') }
}

function unusable(): AppError {
  return new AppError('bad_request', { message: 'the link has expired or was used', path: 'token' })
}
