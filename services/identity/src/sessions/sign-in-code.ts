import { randomInt } from 'node:crypto'
import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { RequestOtpRequest, VerifyOtpRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { accountsOf, foremost } from '../users/accounts-of.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { type Content, changeAlone } from './change-alone.ts'
import { blockedAccount } from './credential.ts'
import { dispossessOthers, recordProof } from './prove-mailbox.ts'
import { reportFailure } from './report-failure.ts'
import { signIn } from './sign-in.ts'
import type { SignInCode, SignInCodeBudget } from './sign-in-code.model.ts'
import { limitKeysOf } from './sign-in-throttle.ts'

const DIGITS = 6
const LIFETIME_MINUTES = 10
const MAX_TRIES = 5
/** Codes that one address gets, and wrong ones that it takes: together they bound guessing from many places. */
const MAX_PER_HOUR = 5
const MAX_PER_DAY = 20
const MAX_WRONG_PER_DAY = 30
const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

/** A code that is to be mailed; it is in force already. */
export type NewCode = { email: string; code: string; orgId: string | undefined }

/**
 * Puts a code in force for an address, whether or not it has accounts: what it costs tells nothing. It belongs to the id
 * that is answered; codes that others ask for leave it as it is. No code where the address has had its share.
 */
export async function requestCode(
  { collections, secrets }: Context,
  { email, orgId }: RequestOtpRequest,
): Promise<{ requestId: string; issued: NewCode | undefined }> {
  const emailKey = emailKeyOf(email)
  const address = secrets['sign-in-address'].hash(emailKey)
  const requestId = generateSecret()
  if (!(await changeAlone(collections.unscoped.signInCodeBudgets, address, afterRequest)))
    return { requestId, issued: undefined }
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0')
  const _id = secrets['sign-in-request'].hash(requestId)
  await collections.unscoped.signInCodes.create({
    _id,
    address,
    organization: orgId === undefined ? null : objectId(orgId),
    hash: secrets['sign-in-code'].hash(`${_id} ${code}`),
    triesLeft: MAX_TRIES,
    unboundTriesLeft: MAX_TRIES,
    expiresAt: new Date(Date.now() + LIFETIME_MINUTES * 60_000),
  })
  return { requestId, issued: { email, code, orgId } }
}

/** Mails a code to the address that was given, however accounts spell it, once, if there is any account it can be for. */
export async function mailCode(context: Context, { email, code, orgId }: NewCode): Promise<void> {
  const [account] = await accountsOf(context, emailKeyOf(email), orgId)
  if (!account) return
  const text = [
    'Hello,',
    `${code} is your code to sign in.`,
    `It works once, within ${LIFETIME_MINUTES} minutes. If it was not you who asked for it, nothing needs to be done.`,
  ]
  const { organization, _id } = account
  const recipient = { organizationId: String(organization), userId: String(_id), to: email }
  await context.mailer.send({
    ...recipient,
    purpose: 'sign_in_code',
    subject: 'Your sign-in code',
    text: text.join('\n\n'),
    expiresAt: new Date(Date.now() + LIFETIME_MINUTES * 60_000),
  })
}

/** Signs in with a code, which proves the mailbox. */
export async function verifyCode(context: Context, request: VerifyOtpRequest, call: Call): Promise<HttpBody> {
  const emailKey = emailKeyOf(request.email)
  const open = await openRequest(context, emailKey, request.requestId)
  const orgId = open ? organizationOf(open, request.orgId) : request.orgId
  const accounts = await accountsOf(context, emailKey, orgId)
  const limitKeys = limitKeysOf(context, emailKey, accounts)
  const outcome = await tryCode(context, { ...request, emailKey, limitKeys }, open)
  const [account, another] = foremost(accounts)
  if (outcome !== 'right' || !open || !account) {
    reportFailure(context, outcome === 'throttled' ? outcome : 'code', accounts, call)
    throw wrongCode()
  }
  if (another) throw new AppError('request.missing_field', { path: 'orgId' })
  if (account.blocked) {
    reportFailure(context, 'blocked', [account], call)
    throw blockedAccount()
  }
  const signedIn = await useCode(context, account, open, call)
  await dispossessOthers(context, emailKey, call)
  return signedIn
}

/** The request a code is said to be of, or the only one that is open. */
async function openRequest(
  { collections, secrets }: Context,
  emailKey: string,
  requestId: string | undefined,
): Promise<SignInCode | undefined> {
  const address = { $in: secrets['sign-in-address'].hashes(emailKey) }
  const named = requestId !== undefined && { _id: { $in: secrets['sign-in-request'].hashes(requestId) } }
  const isOpen = { address, ...named, expiresAt: { $gt: new Date() }, triesLeft: { $gt: 0 } }
  const [open, another] = await collections.unscoped.signInCodes.find(isOpen).limit(2).lean()
  if (another) throw new AppError('request.missing_field', { path: 'requestId' })
  return open
}

type Try = Pick<VerifyOtpRequest, 'code' | 'requestId'> & { emailKey: string; limitKeys: readonly string[] }

/**
 * Tries a code. Every try counts before it is looked at, so that no number of them at once gets more; a right one is given
 * back, since it may have to come again with the organization. Whoever names the request is not kept out by the failures
 * of others: its tries and the day's bound what can be guessed so.
 */
async function tryCode(
  context: Context,
  { code, requestId, emailKey, limitKeys }: Try,
  open: SignInCode | undefined,
): Promise<'right' | 'wrong' | 'throttled'> {
  const { collections, secrets, signInThrottle } = context
  const counted = await Promise.all(limitKeys.map(signInThrottle.count))
  const isBound = requestId !== undefined
  if (!isBound && counted.includes(false)) return 'throttled'
  const address = secrets['sign-in-address'].hash(emailKey)
  if (!(await changeAlone(collections.unscoped.signInCodeBudgets, address, afterTry))) return 'throttled'
  const left = isBound ? 'triesLeft' : 'unboundTriesLeft'
  const taken = { _id: open?._id ?? '', [left]: { $gt: 0 } }
  const tried = await collections.unscoped.signInCodes.findOneAndUpdate(taken, { $inc: { [left]: -1 } }).lean()
  if (!tried || !secrets['sign-in-code'].matches(tried.hash, `${tried._id} ${code}`)) return 'wrong'
  await Promise.all([
    collections.unscoped.signInCodes.updateOne({ _id: tried._id }, { $inc: { [left]: 1 } }),
    changeAlone(collections.unscoped.signInCodeBudgets, address, afterSuccess),
    signInThrottle.reset(limitKeys),
  ])
  return 'right'
}

/** Signs in to an account, whose first proof takes it from whoever else made it. */
function useCode(context: Context, account: User, open: SignInCode, call: Call): Promise<HttpBody> {
  const use = (tx: ClientSession) => useWithin(context, account, open, call, tx)
  if (account.emailVerified) return context.store.transaction(use)
  const scope = { organizationId: String(account.organization) }
  return context.credentials.change(scope, timeoutMs => context.store.transaction(use, { timeoutMs }))
}

async function useWithin(
  context: Context,
  account: User,
  open: SignInCode,
  call: Call,
  tx: ClientSession,
): Promise<HttpBody> {
  const used = await context.collections.unscoped.signInCodes.deleteOne({ _id: open._id }, { session: tx })
  const { users } = context.collections.of(account.organization)
  const proven = { ...(!account.emailVerified && { emailVerified: true, passwordHash: null }), lastLoginAt: new Date() }
  const named = { _id: account._id, blocked: false, emailVerified: account.emailVerified }
  const user = await users.findOneAndUpdate(named, { $set: proven }, { tx })
  // Used, blocked, proven or deleted meanwhile.
  if (used.deletedCount === 0 || !user) throw wrongCode()
  if (!account.emailVerified) await recordProof(context, account, call.caller, tx)
  return json({ ...(await signIn(context, user, call, tx)), user: presentUser(user) })
}

function organizationOf({ organization }: SignInCode, orgId: string | undefined): string | undefined {
  if (!organization) return orgId
  if (orgId !== undefined && orgId.toLowerCase() !== String(organization)) throw wrongCode()
  return String(organization)
}

type Budget = Content<SignInCodeBudget>

/** What an address has had after one more request; undefined where that is too many. */
export function afterRequest(budget: Budget | null, now: Date): Budget | undefined {
  const { requestedAt, triedAt } = recent(budget, now)
  const thisHour = requestedAt.filter(at => at.getTime() > now.getTime() - HOUR_MS)
  if (thisHour.length >= MAX_PER_HOUR || requestedAt.length >= MAX_PER_DAY) return undefined
  return { requestedAt: [...requestedAt, now], triedAt, expiresAt: new Date(now.getTime() + DAY_MS) }
}

/** What an address has had after one more wrong try; undefined where that is too many. */
export function afterTry(budget: Budget | null, now: Date): Budget | undefined {
  const { requestedAt, triedAt } = recent(budget, now)
  if (triedAt.length >= MAX_WRONG_PER_DAY) return undefined
  return { requestedAt, triedAt: [...triedAt, now], expiresAt: new Date(now.getTime() + DAY_MS) }
}

function afterSuccess(budget: Budget | null): Budget | undefined {
  return budget ? { ...budget, triedAt: [] } : undefined
}

function recent(budget: Budget | null, now: Date): Pick<Budget, 'requestedAt' | 'triedAt'> {
  const within = (times: readonly Date[]) => times.filter(at => at.getTime() > now.getTime() - DAY_MS)
  return { requestedAt: within(budget?.requestedAt ?? []), triedAt: within(budget?.triedAt ?? []) }
}

function wrongCode(): AppError {
  return new AppError('sign_in.wrong_code')
}
