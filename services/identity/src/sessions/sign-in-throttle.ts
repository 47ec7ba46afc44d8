import { createKeyedMutex } from '@rollcall/store'
import type { Model } from 'mongoose'
import type { Context } from '../context.ts'
import type { Passwords } from '../users/passwords.ts'
import type { User } from '../users/user.model.ts'
import { type Content, changeAlone } from './change-alone.ts'
import type { SignInLimit } from './sign-in-limit.model.ts'

/**
 * Bounds how many guesses an account takes, from however many addresses: after ten failures within 15 minutes nothing is
 * looked at for a minute, after each further one for twice as long, up to an hour. A success ends it, as does a day
 * without a failure. Counted in the database, for all replicas.
 */
export type SignInThrottle = {
  /** Counts a try as a failure, before it is looked at; false, counting nothing, while the account is locked. */
  count(key: string): Promise<boolean>
  /** Forgets the failures of accounts: the person has shown who they are. */
  reset(keys: readonly string[]): Promise<void>
  /**
   * Looks at a password, if the account takes tries; a success resets it. Of one account it looks at one at a time, so
   * that many at once count like one after another. Locked: takes as long, and looks at nothing.
   */
  look(key: string, fits: () => Promise<boolean>): Promise<'right' | 'wrong' | 'throttled'>
}

const MAX_FAILURES = 10
const WINDOW_MS = 15 * 60_000
const FIRST_LOCK_MS = 60_000
const MAX_LOCK_MS = 60 * 60_000
const RETENTION_MS = 24 * 60 * 60_000

/** Creates the throttle on its collection. */
export function createSignInThrottle(
  limits: Model<SignInLimit>,
  { pretend }: Pick<Passwords, 'pretend'>,
): SignInThrottle {
  const oneAtATime = createKeyedMutex()

  const count: SignInThrottle['count'] = key => changeAlone(limits, key, afterFailure)
  const reset: SignInThrottle['reset'] = async keys => {
    await limits.deleteMany({ _id: { $in: [...keys] } })
  }
  const giveBack = async (key: string, error: unknown): Promise<never> => {
    await changeAlone(limits, key, beforeFailure)
    throw error
  }

  return {
    count,
    reset,
    async look(key, fits) {
      const outcome = await oneAtATime(key, async () => {
        if (!(await count(key))) return 'throttled'
        if (!(await fits().catch(error => giveBack(key, error)))) return 'wrong'
        await reset([key])
        return 'right'
      })
      if (outcome === 'throttled') await pretend()
      return outcome
    },
  }
}

/** What tries on accounts of an address count under: each account, or the address where it has none. */
export function limitKeysOf(
  { secrets }: Pick<Context, 'secrets'>,
  emailKey: string,
  accounts: readonly User[],
): string[] {
  if (accounts.length === 0) return [secrets['sign-in-address'].hash(emailKey)]
  return accounts.map(({ _id }) => String(_id))
}

/** What is remembered after one more failure; undefined while locked. */
export function afterFailure(limit: Content<SignInLimit> | null, now: Date): Content<SignInLimit> | undefined {
  if (limit?.lockedUntil && limit.lockedUntil > now) return undefined
  const after = (ms: number) => new Date(now.getTime() + ms)
  const failures = (limit?.failures ?? 0) + 1
  if (failures < MAX_FAILURES) return { failures, lockedUntil: null, expiresAt: limit?.expiresAt ?? after(WINDOW_MS) }
  const lockMs = Math.min(FIRST_LOCK_MS * 2 ** (failures - MAX_FAILURES), MAX_LOCK_MS)
  return { failures, lockedUntil: after(lockMs), expiresAt: after(RETENTION_MS) }
}

/** What is remembered once a counted try turns out not to have been looked at. */
function beforeFailure(limit: Content<SignInLimit> | null): Content<SignInLimit> | undefined {
  return limit ? { ...limit, failures: limit.failures - 1, lockedUntil: null } : undefined
}
