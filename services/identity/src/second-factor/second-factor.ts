import type { Call } from '@rollcall/rpc'
import type { Filter } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { reportFailure } from '../sessions/report-failure.ts'
import type { Totp, User } from '../users/user.model.ts'
import { recoveryHash, stepOf } from './totp.ts'

/** A second factor that is set up. */
export type SecondFactor = Totp & { confirmedAt: Date }

/** Returns the second factor that a user has confirmed. */
export function secondFactorOf({ totp }: Pick<User, 'totp'>): SecondFactor | undefined {
  return totp?.confirmedAt ? (totp as SecondFactor) : undefined
}

/** Whether a user has a second factor. */
export function hasSecondFactor(user: Pick<User, 'totp'>): boolean {
  return secondFactorOf(user) !== undefined
}

/** Returns where the secret of a user's second factor is stored (see `Secrets`). */
export function totpPlace({ organization, _id }: { organization: Types.ObjectId; _id: Types.ObjectId }): string {
  return `organization ${organization}, user ${_id}, second factor`
}

/** Decrypts the secret of a user's second factor. */
export function totpSecretOf({ encryption }: Pick<Context, 'encryption'>, user: User, { secret }: Totp): string {
  return encryption.open(secret, totpPlace(user))
}

/** The update that uses a code up, and the filter that matches only while it is unused. */
export type CodeUse = { unused: Filter; set?: object; pull?: object }

/**
 * Returns how to use up a code of a user's second factor: a TOTP code of a later step than the last used one, or a
 * recovery code. Undefined if it is wrong. Apply both to the user in one update, so that each code works once.
 */
function useOf(context: Context, user: User, factor: SecondFactor, code: string): CodeUse | undefined {
  const secret = totpSecretOf(context, user, factor)
  const step = stepOf(secret, code)
  if (step !== undefined && step <= factor.usedStep) return undefined
  if (step !== undefined) return { unused: { 'totp.usedStep': { $lt: step } }, set: { 'totp.usedStep': step } }
  const hash = recoveryHash(secret, code)
  if (!factor.recoveryCodes.includes(hash)) return undefined
  return { unused: { 'totp.recoveryCodes': hash }, pull: { 'totp.recoveryCodes': hash } }
}

/**
 * Returns how to use up a code, or undefined if it is wrong. A wrong code counts as a failed sign-in, together with
 * passwords. Only people who passed the first factor can lock the counter of second factors: those who proved it by a
 * mailed code (`isMailed`) are held to that counter alone, so that others' wrong passwords cannot lock them out.
 */
export async function tryCode(
  context: Context,
  user: User,
  { code, isMailed }: { code: string; isMailed: boolean },
  call: Call,
): Promise<CodeUse | undefined> {
  const { signInThrottle } = context
  const factor = secondFactorOf(user)
  const use = factor && useOf(context, user, factor, code)
  const account = String(user._id)
  const look = () => signInThrottle.look(`${account} second factor`, async () => use !== undefined)
  if (isMailed) await signInThrottle.count(account)
  const outcome = isMailed ? await look() : await signInThrottle.look(account, async () => (await look()) === 'right')
  if (outcome === 'right') {
    await signInThrottle.reset([account])
    return use
  }
  reportFailure(context, outcome === 'wrong' ? 'second_factor' : outcome, [user], call)
  return undefined
}
