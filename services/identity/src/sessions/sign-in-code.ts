import { randomInt } from 'node:crypto'
import { hashSecret, sameHash } from '@rollcall/credentials'
import type { RequestOtpRequest, VerifyOtpRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError, type Call, type HttpBody, json } from '@rollcall/rpc'
import { isDuplicate, objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { emailKeyOf, presentUser, type User } from '../users/user.model.ts'
import { blockedAccount } from './bearer.ts'
import { signIn } from './sign-in.ts'
import type { SignInCode } from './sign-in-code.model.ts'

const digits = 6
const minutes = 10
const maxTries = 5
/** Codes that one address gets: with their tries they bound what guessing from many places can come to, and the mail. */
const maxPerHour = 20
const hourMs = 60 * 60_000

/** Leave to mail a code, which is in force already. */
export type Leave = { emailKey: string; code: string; orgId: string | undefined }

/**
 * Puts a new code in force for an address, whether or not it has accounts: what it costs tells nothing. Undefined where
 * the address has had its share; the code before stays good then.
 */
export async function renewCode(
  { models, tokenKey }: Context,
  { email, orgId }: RequestOtpRequest,
): Promise<Leave | undefined> {
  const emailKey = emailKeyOf(email)
  const code = String(randomInt(10 ** digits)).padStart(digits, '0')
  const now = Date.now()
  const renewed = {
    organization: orgId === undefined ? null : objectId(orgId),
    hash: hashOf(emailKey, code, tokenKey),
    triesLeft: maxTries,
    expiresAt: new Date(now + minutes * 60_000),
    forgetAt: new Date(now + hourMs),
  }
  const { signInCodes } = models
  const counted = await signInCodes.updateOne(
    { _id: emailKey, windowEndsAt: { $gt: new Date(now) }, sent: { $lt: maxPerHour } },
    { $set: renewed, $inc: { sent: 1 } },
  )
  const isRenewed = counted.matchedCount === 1 || (await beginWindow(signInCodes, emailKey, renewed, now))
  return isRenewed ? { emailKey, code, orgId } : undefined
}

/** Mails a code to its address, once, if there is any account it can be for. */
export async function mailCode({ models, mailer }: Context, { emailKey, code, orgId }: Leave): Promise<void> {
  const [account] = await models.users.find(accountsOf(emailKey, orgId)).sort({ _id: 1 }).limit(1).lean()
  if (!account) return
  const text = [
    'Hello,',
    `${code} is your code to sign in.`,
    `It works once, within ${minutes} minutes. If it was not you who asked for it, nothing needs to be done.`,
  ]
  const { organization, _id, email } = account
  const recipient = { organizationId: String(organization), userId: String(_id), to: email }
  await mailer.send({ ...recipient, subject: 'Your sign-in code', text: text.join('\n\n') })
}

/**
 * Signs in with a code. Every try counts before it is looked at, so that no number of them at once gets more than five; a
 * right one is given back, since it may have to come again with the organization.
 */
export async function verifyCode(
  context: Context,
  { email, code, orgId }: VerifyOtpRequest,
  call: Call,
): Promise<HttpBody> {
  const { signInCodes, users } = context.models
  const emailKey = emailKeyOf(email)
  const inForce = { _id: emailKey, expiresAt: { $gt: new Date() }, triesLeft: { $gt: 0 } }
  const tried = await signInCodes.findOneAndUpdate(inForce, { $inc: { triesLeft: -1 } }, { lean: true })
  const hash = hashOf(emailKey, code, context.tokenKey)
  if (!tried?.hash || !sameHash(tried.hash, hash)) throw wrongCode()
  await signInCodes.updateOne({ _id: emailKey, hash }, { $inc: { triesLeft: 1 } })
  const organization = organizationOf(tried, orgId)
  const [account, another] = await users.find(accountsOf(emailKey, organization)).limit(2).lean()
  if (!account) throw wrongCode()
  if (another) throw new AppError('missing_field', { path: 'orgId' })
  if (account.blocked) throw blockedAccount()
  return context.store.transaction(tx => useCode(context, account, hash, call, tx))
}

async function beginWindow(
  signInCodes: Context['models']['signInCodes'],
  emailKey: string,
  renewed: Partial<SignInCode>,
  now: number,
): Promise<boolean> {
  const fresh = { $set: { ...renewed, sent: 1, windowEndsAt: new Date(now + hourMs) } }
  try {
    await signInCodes.updateOne({ _id: emailKey, windowEndsAt: { $lte: new Date(now) } }, fresh, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false // there is a window, and it is full
    throw error
  }
}

async function useCode(
  context: Context,
  account: User,
  hash: string,
  call: Call,
  tx: ClientSession,
): Promise<HttpBody> {
  const spent = { $set: { hash: null, triesLeft: 0 } }
  const used = await context.models.signInCodes.updateOne({ _id: account.emailKey, hash }, spent, { session: tx })
  const { users } = context.within(account.organization)
  const shown = { $set: { emailVerified: true, lastLoginAt: new Date() } }
  const user = await users.findOneAndUpdate({ _id: account._id, blocked: false }, shown, { session: tx })
  // Used, blocked or deleted meanwhile.
  if (used.matchedCount === 0 || !user) throw wrongCode()
  return json({ ...(await signIn(context, user, call, tx)), user: presentUser(user) })
}

function organizationOf({ organization }: SignInCode, orgId: string | undefined): string | undefined {
  if (!organization) return orgId
  if (orgId !== undefined && orgId.toLowerCase() !== String(organization)) throw wrongCode()
  return String(organization)
}

function accountsOf(emailKey: string, orgId: string | undefined) {
  return { emailKey, ...(orgId !== undefined && { organization: orgId }) }
}

function hashOf(emailKey: string, code: string, key: Context['tokenKey']): string {
  return hashSecret(`${emailKey} ${code}`, key)
}

function wrongCode(): AppError {
  return new AppError('unauthenticated', { message: 'Wrong email or code.' })
}
