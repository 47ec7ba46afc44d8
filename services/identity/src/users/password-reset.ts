import { AppError, emailKeyOf } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { ForgotPasswordRequest, ResetPasswordRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { quoted } from '@rollcall/runtime'
import type { ClientSession } from 'mongoose'
import { PASSWORD_CHANGED, sendNotice } from '../account/send-notice.ts'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import type { Mail } from '../mailer.ts'
import { blockedAccount } from '../sessions/credential.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { dispossessOthers, isUnprovenRegistration, recordProof } from '../sessions/prove-mailbox.ts'
import { countActiveTokens, deactivateTokensOf } from '../tokens/deactivate-tokens.ts'
import { accountsOf, foremost } from './accounts-of.ts'
import type { PasswordReset } from './password-reset.model.ts'
import { setterOf } from './passwords.ts'
import type { User } from './user.model.ts'

const INVITATION_DAYS = 7
const RESET_MINUTES = 60
/** Maximum open resets per account, so that repeated requests cannot flood inbox or database. */
const MAX_PENDING = 5

/** Creates a password reset for a new account, within its transaction; returns the mail to send. */
export async function invite(context: Context, user: User, tx: ClientSession): Promise<Mail> {
  const { link, expiresAt } = await createReset(context, user, INVITATION_DAYS * 24 * 60, tx)
  return mailOf(user, { purpose: 'new_account', subject: 'Set your password', expiresAt }, [
    'an account was made for you. Set its password here:',
    link,
    `The link works once, within ${INVITATION_DAYS} days.`,
  ])
}

/** Mails password reset links to the accounts of an email, in all organizations or in one. */
export async function mailResets(
  context: Context,
  { email, orgId }: ForgotPasswordRequest,
  caller: Caller,
): Promise<void> {
  const accounts = await accountsOf(context, emailKeyOf(email), orgId)
  for (const user of foremost(accounts)) {
    const tenant = context.collections.of(user.organization)
    const pending = { user: user._id, expiresAt: { $gt: new Date() } }
    if (user.blocked || (await tenant.passwordResets.count(pending)) >= MAX_PENDING) continue
    const { link, expiresAt } = await context.store.transaction(tx => requestReset(context, user, caller, tx))
    const mail = mailOf(user, { purpose: 'password_reset', subject: 'Reset your password', expiresAt }, [
      'someone, hopefully you, requested a new password. Set it here:',
      link,
      ...tokenNotice(await countActiveTokens(tenant, user._id)),
      `The link works once, within ${RESET_MINUTES} minutes. If it was not you, you can ignore this mail.`,
    ])
    await context.mailer.send(mail)
  }
}

/** Creates a password reset that somebody requested who has not proved who they are. */
async function requestReset(context: Context, user: User, caller: Caller, tx: ClientSession) {
  const { organization, _id: subject } = user
  const content = { organization, subject, data: { userId: String(subject) } }
  await publish(context, caller, 'user.password_reset_requested', content, tx, [subject])
  return createReset(context, user, RESET_MINUTES, tx)
}

/** Warns that API tokens stay active, in case somebody else knew the password. */
function tokenNotice(active: number): string[] {
  if (active === 0) return []
  const tokens = active === 1 ? '1 API token' : `${active} API tokens`
  return [`A new password ends your sessions. ${tokens} of yours stay active unless you have them deactivated with it.`]
}

/**
 * Sets a password by a mailed link, which proves ownership of the mailbox. Ends all sessions of the account and, if
 * requested, deactivates its API tokens. Tells the person by mail, unless it is the first password.
 * @throws {AppError} password_link.expired, password.too_common, account.blocked
 */
export async function resetPassword(context: Context, request: ResetPasswordRequest, call: Call): Promise<void> {
  const hashes = context.secrets['password-reset'].hashes(request.token)
  const isValid = { hash: { $in: hashes }, expiresAt: { $gt: new Date() } }
  const reset = await context.collections.unscoped.passwordResets.findOne(isValid).lean()
  if (!reset) throw unusable()
  const organizationId = String(reset.organization)
  const passwordHash = await context.passwords.hash(request.password, setterOf(call.caller, organizationId))
  const leave = { ...reset, passwordHash, deactivateTokens: request.deactivateTokens ?? false }
  const user = await context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(tx => resetWithin(context, leave, call.caller, tx), { timeoutMs }),
  )
  if (user.passwordHash !== null) sendNotice(context, user, PASSWORD_CHANGED, call)
  await context.signInThrottle.reset([String(user._id)])
  await dispossessOthers(context, user.emailKey, call)
}

type Leave = PasswordReset & { passwordHash: string; deactivateTokens: boolean }

/** Returns the account before the change. */
async function resetWithin(
  context: Context,
  { _id, organization, user: subject, passwordHash, deactivateTokens }: Leave,
  caller: Caller,
  tx: ClientSession,
): Promise<User> {
  const { users, passwordResets } = context.collections.of(organization)
  const used = await passwordResets.deleteOne({ _id }, { tx })
  const user = await users.findOne({ _id: subject }, { tx })
  if (used.deletedCount === 0 || !user) throw unusable()
  if (user.blocked) throw blockedAccount()
  const set = { passwordHash, emailVerified: true, ...(isUnprovenRegistration(user) && { totp: null }) }
  await users.updateOne({ _id: subject }, { $set: set }, { tx })
  await passwordResets.deleteMany({ user: subject }, { tx })
  const person = asPerson(caller, user)
  await endSessionsOf(context, subject, person, tx)
  if (deactivateTokens) await deactivateTokensOf(context, subject, person, tx)
  if (!user.emailVerified) await recordProof(context, user, caller, tx)
  await publish(context, person, 'user.password_set', { organization, subject, data: { userId: String(subject) } }, tx)
  return user
}

/** Stores a password reset; returns its link and expiry. */
async function createReset(
  { collections, secrets, consoleUrl }: Context,
  { _id: user, organization }: User,
  minutes: number,
  tx?: ClientSession,
): Promise<{ link: string; expiresAt: Date }> {
  const secret = generateSecret()
  const hash = secrets['password-reset'].hash(secret)
  const expiresAt = new Date(Date.now() + minutes * 60_000)
  await collections.of(organization).passwordResets.insertOne({ user, hash, expiresAt }, { tx })
  return { link: `${consoleUrl}/set-password?token=${secret}`, expiresAt }
}

/** Quotes the name, because a stranger may have chosen it. */
function mailOf(
  { _id, organization, email, name }: User,
  about: Pick<Mail, 'purpose' | 'subject' | 'expiresAt'>,
  paragraphs: string[],
): Mail {
  const recipient = { organizationId: String(organization), userId: String(_id), to: email }
  return { ...recipient, ...about, text: [`Hello ${quoted(name)},`, ...paragraphs].join('\n\n') }
}

function unusable(): AppError {
  return new AppError('password_link.expired')
}
