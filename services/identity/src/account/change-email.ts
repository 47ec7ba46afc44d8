import { AppError, emailKeyOf } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { ChangeEmailRequest, VerifyEmailRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { quoted } from '@rollcall/runtime'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import { requireMailReach } from '../organizations/mail-reach.ts'
import { blockedAccount } from '../sessions/credential.ts'
import { dispossessOthers, recordVerified } from '../sessions/prove-mailbox.ts'
import { accountState, isUnchanged } from '../users/account-state.ts'
import { updatedData } from '../users/change-user.ts'
import type { User } from '../users/user.model.ts'
import type { EmailChange } from './email-change.model.ts'
import { requireOwnPassword } from './own-password.ts'
import { sendNotice } from './send-notice.ts'

const LIFETIME_HOURS = 24
const LIFETIME_MS = LIFETIME_HOURS * 3_600_000
/** Maximum requests per account and day: each one mails an address of the caller's choice. */
const MAX_REQUESTS = 5
const DAY_MS = 24 * 3_600_000
const ADDRESS_CHANGED = {
  purpose: 'email_changed',
  subject: 'Your email address was changed',
  change: 'the email address of your account was changed. This address can no longer be used to sign in.',
} as const

/**
 * Mails a link to a new address of the caller's account. The address changes when the link is used.
 * @throws {AppError} request.invalid_field, organization.unverified, record.duplicate, quota.too_many_pending
 */
export async function changeEmail(context: Context, request: ChangeEmailRequest, call: Call): Promise<void> {
  const { organizationId, userId } = call.caller
  const { users, emailChanges } = context.collections.of(organizationId)
  const user = await users.get(userId!, 'user')
  await requireOwnPassword(context, user, { password: request.password, path: 'password' }, call)
  const { email } = request
  const emailKey = emailKeyOf(email)
  if (emailKey === user.emailKey)
    throw new AppError('request.invalid_field', { path: 'email', reason: 'is your address already' })
  // Who registered an organization that is not verified may correct a mistyped address.
  if (!user.selfRegistered) await requireMailReach(context, organizationId, email)
  if (await users.findOne({ emailKey })) throw new AppError('record.duplicate', { path: 'email' })
  const secret = generateSecret()
  const expiresAt = new Date(Date.now() + LIFETIME_MS)
  const hash = context.secrets['email-change'].hash(secret)
  const change = { email, hash, state: accountState(context, user), expiresAt }
  await context.store.transaction(async tx => {
    const previous = await emailChanges.findOne({ user: user._id }, { tx })
    const set = { ...change, requestedAt: countRequest(previous?.requestedAt) }
    await emailChanges.findOneAndUpdate({ user: user._id }, { $set: set }, { upsert: true, tx })
    const { organization, _id: subject } = user
    const content = { organization, subject, data: { userId: String(subject), email } }
    await publish(context, call.caller, 'user.email_change_requested', content, tx)
  })
  await context.mailer.send({
    organizationId,
    userId: String(user._id),
    to: email,
    purpose: 'email_change',
    subject: 'Confirm your new email address',
    text: [
      `Hello ${quoted(user.name)},`,
      `you, or somebody with your password, asked to change the email address of your account from ${quoted(user.email)} to this one. Confirm it here:`,
      `${context.consoleUrl}/verify-email?token=${secret}`,
      `The link works once, within ${LIFETIME_HOURS} hours. If it was not you, do not open it: nothing changes then.`,
    ].join('\n\n'),
    expiresAt,
  })
}

/** Returns the times of the requests within a day, with this one. @throws {AppError} quota.too_many_pending */
function countRequest(requestedAt: readonly Date[] = []): Date[] {
  const now = Date.now()
  const recent = requestedAt.filter(at => at.getTime() > now - DAY_MS)
  const [first] = recent
  if (!first || recent.length < MAX_REQUESTS) return [...recent, new Date(now)]
  const retryAfterSeconds = Math.ceil((first.getTime() + DAY_MS - now) / 1000)
  const what = 'changes of the email address per account and day'
  throw new AppError('quota.too_many_pending', { limit: MAX_REQUESTS, what, retryAfterSeconds })
}

/**
 * Changes an account's address by the mailed link, which proves ownership of the new mailbox. Voids mailed links to set
 * a password, and tells the old address. A new password or second factor voids the link: a person who recovers an
 * account does not know of changes that somebody else requested.
 * @throws {AppError} request.invalid_field, record.duplicate, account.blocked
 */
export async function verifyEmail(context: Context, { token }: VerifyEmailRequest, call: Call): Promise<void> {
  const hash = { $in: context.secrets['email-change'].hashes(token) }
  const isValid = { hash, expiresAt: { $gt: new Date() } }
  const change = await context.collections.unscoped.emailChanges.findOne(isValid).lean()
  if (!change) throw badLink()
  const before = await context.store.transaction(tx => changeWithin(context, change, call.caller, tx))
  sendNotice(context, before, ADDRESS_CHANGED, call)
  await dispossessOthers(context, emailKeyOf(change.email), call)
}

/** Returns the account before the change. */
async function changeWithin(
  context: Context,
  { _id, organization, user: subject, email, state = '' }: EmailChange,
  caller: Caller,
  tx: ClientSession,
): Promise<User> {
  const { users, emailChanges, passwordResets } = context.collections.of(organization)
  const used = await emailChanges.deleteOne({ _id }, { tx })
  const before = await users.findOne({ _id: subject }, { tx })
  if (used.deletedCount === 0 || !before || !isUnchanged(context, before, state)) throw badLink()
  if (before.blocked) throw blockedAccount()
  const set = { email, emailKey: emailKeyOf(email), emailVerified: true }
  const user = await users.findOneAndUpdate({ _id: subject }, { $set: set }, { tx })
  await passwordResets.deleteMany({ user: subject }, { tx })
  const person = asPerson(caller, before)
  if (!before.emailVerified) await recordVerified(context, before, person, tx)
  const changed = before.emailVerified ? ['email'] : ['email', 'emailVerified']
  const data = updatedData(before, user!, changed)
  await publish(context, person, 'user.updated', { organization, subject, data }, tx)
  return before
}

function badLink(): AppError {
  return new AppError('request.invalid_field', { path: 'token' })
}
