import { AppError, type HttpBody, json } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { VerifyMfaRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { blockedAccount } from '../sessions/credential.ts'
import { dispossessOthers, recordProof } from '../sessions/prove-mailbox.ts'
import { reportFailure } from '../sessions/report-failure.ts'
import { signIn } from '../sessions/sign-in.ts'
import { accountState, isUnchanged } from '../users/account-state.ts'
import { presentUser, type User } from '../users/user.model.ts'
import type { PendingSignIn } from './pending-sign-in.model.ts'
import { type CodeUse, tryCode } from './second-factor.ts'

const LIFETIME_MS = 5 * 60_000
const MAX_TRIES = 5

/** Stores a sign-in that needs the second factor, and returns the answer that asks for it. */
export async function openPendingSignIn(
  context: Context,
  user: User,
  by: PendingSignIn['by'],
  tx?: ClientSession,
): Promise<object> {
  const mfaToken = generateSecret()
  const pending = {
    _id: context.secrets['pending-sign-in'].hash(mfaToken),
    organization: user.organization,
    user: user._id,
    by,
    state: accountState(context, user),
    triesLeft: MAX_TRIES,
    expiresAt: new Date(Date.now() + LIFETIME_MS),
  }
  await context.collections.unscoped.pendingSignIns.create([pending], { session: tx ?? null })
  return { mfaRequired: true, mfaToken, methods: ['totp', 'recovery_code'] }
}

/**
 * Completes a sign-in with a code of the second factor. Each attempt is counted before the check, so that concurrent
 * attempts get no extra guesses.
 * @throws {AppError} sign_in.expired, sign_in.wrong_second_factor, account.blocked
 */
export async function completeSignIn(
  context: Context,
  { mfaToken, code }: VerifyMfaRequest,
  call: Call,
): Promise<HttpBody> {
  const { pending, user } = await findPending(context, mfaToken)
  if (user.blocked) {
    reportFailure(context, 'blocked', [user], call)
    throw blockedAccount()
  }
  const { pendingSignIns } = context.collections.unscoped
  const hasTries = { _id: pending._id, triesLeft: { $gt: 0 } }
  const counted = await pendingSignIns.updateOne(hasTries, { $inc: { triesLeft: -1 } })
  if (counted.matchedCount === 0) throw new AppError('sign_in.expired')
  const use = await tryCode(context, user, { code, isMailed: pending.by === 'bound_code' }, call)
  if (!use) throw wrongCode()
  const signedIn = await enter(context, { pending, user, use }, call)
  if (pending.by !== 'password') await dispossessOthers(context, user.emailKey, call)
  return signedIn
}

type Found = { pending: PendingSignIn; user: User }

async function findPending(context: Context, mfaToken: string): Promise<Found> {
  const { collections, secrets } = context
  const _id = { $in: secrets['pending-sign-in'].hashes(mfaToken) }
  const pending = await collections.unscoped.pendingSignIns.findOne({ _id, expiresAt: { $gt: new Date() } }).lean()
  const user = pending && (await collections.of(pending.organization).users.findOne({ _id: pending.user }))
  if (!pending || !user || !isUnchanged(context, user, pending.state)) throw new AppError('sign_in.expired')
  return { pending, user }
}

/** Signs in. The first proof of the account's mailbox secures it against others who created it. */
function enter(context: Context, entry: Found & { use: CodeUse }, call: Call): Promise<HttpBody> {
  const { user, pending } = entry
  const proves = pending.by !== 'password' && !user.emailVerified
  const run = (tx: ClientSession) => enterWithin(context, { ...entry, proves }, call, tx)
  if (!proves) return context.store.transaction(run)
  const scope = { organizationId: String(user.organization) }
  return context.credentials.change(scope, timeoutMs => context.store.transaction(run, { timeoutMs }))
}

async function enterWithin(
  context: Context,
  { pending, user: account, use, proves }: Found & { use: CodeUse; proves: boolean },
  call: Call,
  tx: ClientSession,
): Promise<HttpBody> {
  const used = await context.collections.unscoped.pendingSignIns.deleteOne({ _id: pending._id }, { session: tx })
  const { users } = context.collections.of(account.organization)
  const { _id, passwordHash, emailKey, emailVerified } = account
  const asFound = { _id, passwordHash, emailKey, emailVerified, blocked: false, ...use.unused }
  const set = { ...use.set, lastLoginAt: new Date(), ...(proves && { emailVerified: true, passwordHash: null }) }
  const update = { $set: set, ...(use.pull && { $pull: use.pull }) }
  const user = await users.findOneAndUpdate(asFound, update, { tx })
  // Concurrently used, blocked, changed or deleted.
  if (used.deletedCount === 0 || !user) throw wrongCode()
  if (proves) await recordProof(context, account, call.caller, tx)
  return json({ ...(await signIn(context, user, call, tx)), user: presentUser(user) })
}

function wrongCode(): AppError {
  return new AppError('sign_in.wrong_second_factor')
}
