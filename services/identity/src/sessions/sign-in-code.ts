import { randomInt } from 'node:crypto'
import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { RequestOtpRequest, VerifyOtpRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { openPendingSignIn } from '../second-factor/pending-sign-in.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { accountsOf, foremost } from '../users/accounts-of.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { type Content, changeAlone } from './change-alone.ts'
import { blockedAccount } from './credential.ts'
import { dispossessOthers, firstProofOf, isUnprovenRegistration, recordProof } from './prove-mailbox.ts'
import { reportFailure } from './report-failure.ts'
import { signIn } from './sign-in.ts'
import type { SignInCode, SignInCodeBudget } from './sign-in-code.model.ts'
import { limitKeysOf } from './sign-in-throttle.ts'

const DIGITS = 6
const LIFETIME_MINUTES = 10
const MAX_TRIES = 5
/** Limits per address on codes sent and wrong codes entered: they bound distributed guessing. */
const MAX_PER_HOUR = 5
const MAX_PER_DAY = 20
const MAX_WRONG_PER_DAY = 30
const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

/** A stored, valid code that is to be mailed. */
export type NewCode = { email: string; code: string; orgId: string | undefined }

/**
 * Stores a code for an address, even without accounts, so that response time reveals nothing. The code is bound to the
 * returned id; other requests do not replace it. Creates no code once the address has reached its limit.
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

/** Mails a code once, to the address as given, if it has an account that the code is valid for. */
export async function mailCode(context: Context, { email, code, orgId }: NewCode, caller: Caller): Promise<void> {
  const [account] = await accountsOf(context, emailKeyOf(email), orgId)
  if (!account) return
  const text = [
    'Hello,',
    `${code} is your code to sign in.`,
    `It works once, within ${LIFETIME_MINUTES} minutes. If you did not request it, you can ignore this mail.`,
  ]
  const { organization, _id } = account
  const content = { organization, subject: _id, data: { userId: String(_id) } }
  await context.store.transaction(tx => publish(context, caller, 'user.code_requested', content, tx, [_id]))
  const recipient = { organizationId: String(organization), userId: String(_id), to: email }
  await context.mailer.send({
    ...recipient,
    purpose: 'sign_in_code',
    subject: 'Your sign-in code',
    text: text.join('\n\n'),
    expiresAt: new Date(Date.now() + LIFETIME_MINUTES * 60_000),
  })
}

/** Signs in with a code, which proves ownership of the mailbox. */
export async function verifyCode(context: Context, request: VerifyOtpRequest, call: Call): Promise<HttpBody> {
  const emailKey = emailKeyOf(request.email)
  const open = await openRequest(context, emailKey, request.requestId)
  const orgId = open ? organizationOf(open, request.orgId) : request.orgId
  const accounts = await accountsOf(context, emailKey, orgId)
  const limitKeys = limitKeysOf(context, emailKey, accounts)
  const partial = new Set(accounts.filter(needsSecondFactor).map(({ _id }) => String(_id)))
  const outcome = await tryCode(context, { ...request, emailKey, limitKeys, partial }, open)
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
  if (needsSecondFactor(account)) {
    const by = request.requestId === undefined ? 'code' : 'bound_code'
    return context.store.transaction(async tx => {
      await useUp(context, open, tx)
      return json(await openPendingSignIn(context, account, by, tx))
    })
  }
  const signedIn = await useCode(context, account, open, call)
  await dispossessOthers(context, emailKey, call)
  return signedIn
}

/** Whether a mailed code is only half of a user's sign-in. */
function needsSecondFactor(account: User): boolean {
  return hasSecondFactor(account) && !isUnprovenRegistration(account)
}

/** Returns the request with the given id, or the only open one. */
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

type Try = Pick<VerifyOtpRequest, 'code' | 'requestId'> & {
  emailKey: string
  limitKeys: readonly string[]
  /** The keys whose accounts have a second factor: a right code is only half of their sign-in. */
  partial: ReadonlySet<string>
}

/**
 * Checks a code. Each attempt is counted before the check, so that concurrent attempts get no extra guesses. A correct
 * code is refunded, because the client may send it again with an organization. Attempts with the id of an open request
 * have their own limit, so that failures of others cannot lock out the requester. The address is charged only for codes
 * that are compared.
 */
async function tryCode(
  context: Context,
  { code, requestId, emailKey, limitKeys, partial }: Try,
  open: SignInCode | undefined,
): Promise<'right' | 'wrong' | 'throttled'> {
  const { collections, secrets, signInThrottle } = context
  const counted = await Promise.all(limitKeys.map(signInThrottle.count))
  const isBound = open !== undefined && requestId !== undefined
  if (!isBound && counted.includes(false)) return 'throttled'
  const left = isBound ? 'triesLeft' : 'unboundTriesLeft'
  const taken = { _id: open?._id ?? '', [left]: { $gt: 0 } }
  const tried = await collections.unscoped.signInCodes.findOneAndUpdate(taken, { $inc: { [left]: -1 } }).lean()
  if (!tried) return 'wrong'
  const address = secrets['sign-in-address'].hash(emailKey)
  if (!(await changeAlone(collections.unscoped.signInCodeBudgets, address, afterTry))) return 'throttled'
  if (!secrets['sign-in-code'].matches(tried.hash, `${tried._id} ${code}`)) return 'wrong'
  await Promise.all([
    collections.unscoped.signInCodes.updateOne({ _id: tried._id }, { $inc: { [left]: 1 } }),
    changeAlone(collections.unscoped.signInCodeBudgets, address, afterSuccess),
    signInThrottle.reset(limitKeys.filter(key => !partial.has(key))),
    ...limitKeys.filter((key, index) => partial.has(key) && counted[index]).map(signInThrottle.uncount),
  ])
  return 'right'
}

/** Signs in to an account; the first proof of its mailbox secures it against others who created it. */
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
  await useUp(context, open, tx)
  const { users } = context.collections.of(account.organization)
  const { _id, emailVerified } = account
  const proven = { ...(!emailVerified && firstProofOf(account)), lastLoginAt: new Date() }
  const isUnsecured = !isUnprovenRegistration(account) && { 'totp.confirmedAt': null }
  const named = { _id, emailVerified, blocked: false, ...isUnsecured }
  const user = await users.findOneAndUpdate(named, { $set: proven }, { tx })
  // Concurrently blocked, proven, secured by a second factor or deleted.
  if (!user) throw wrongCode()
  if (!emailVerified) await recordProof(context, account, call.caller, tx)
  return json({ ...(await signIn(context, user, call, tx)), user: presentUser(user) })
}

/** Deletes a code. @throws {AppError} sign_in.wrong_code if it was used concurrently */
async function useUp({ collections }: Context, { _id }: SignInCode, tx: ClientSession): Promise<void> {
  const used = await collections.unscoped.signInCodes.deleteOne({ _id }, { session: tx })
  if (used.deletedCount === 0) throw wrongCode()
}

function organizationOf({ organization }: SignInCode, orgId: string | undefined): string | undefined {
  if (!organization) return orgId
  if (orgId !== undefined && orgId.toLowerCase() !== String(organization)) throw wrongCode()
  return String(organization)
}

type Budget = Content<SignInCodeBudget>

/** Returns the budget after another request; undefined if a limit is reached. */
export function afterRequest(budget: Budget | null, now: Date): Budget | undefined {
  const { requestedAt, triedAt } = recent(budget, now)
  const thisHour = requestedAt.filter(at => at.getTime() > now.getTime() - HOUR_MS)
  if (thisHour.length >= MAX_PER_HOUR || requestedAt.length >= MAX_PER_DAY) return undefined
  return { requestedAt: [...requestedAt, now], triedAt, expiresAt: new Date(now.getTime() + DAY_MS) }
}

/** Returns the budget after another failed attempt; undefined if the limit is reached. */
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
