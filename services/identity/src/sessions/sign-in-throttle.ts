import { createKeyedMutex, type Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Passwords } from '../users/passwords.ts'
import type { User } from '../users/user.model.ts'
import { type Content, changeAlone } from './change-alone.ts'
import type { SignInLimit } from './sign-in-limit.model.ts'

/**
 * Limits password guesses per account, across all client addresses. Ten failures within 15 minutes lock the account for
 * a minute; each further failure doubles the lock, up to an hour. A success or a day without failures resets it.
 * Counters are stored in the database, shared by all replicas.
 */
export type SignInThrottle = {
  /** Counts an attempt as failed before the check; returns false, without counting, while the account is locked. */
  count(key: string): Promise<boolean>
  /** Takes a counted attempt back. */
  uncount(key: string): Promise<void>
  /** Resets the counters of accounts after a successful sign-in. */
  reset(keys: readonly string[]): Promise<void>
  /**
   * Checks a password unless the account is locked; a success resets the counter, or with `isPartial` leaves it as it was,
   * because the second factor is still open. Checks of one account run one at a time, so that concurrent attempts count
   * like sequential ones. While locked, it takes as long but checks nothing.
   */
  look(
    key: string,
    fits: () => Promise<boolean>,
    options?: { isPartial: boolean },
  ): Promise<'right' | 'wrong' | 'throttled'>
}

const MAX_FAILURES = 10
const WINDOW_MS = 15 * 60_000
const FIRST_LOCK_MS = 60_000
const MAX_LOCK_MS = 60 * 60_000
const RETENTION_MS = 24 * 60 * 60_000

/** Creates the throttle on its collection. */
export function createSignInThrottle(
  limits: Unscoped<SignInLimit>,
  { pretend }: Pick<Passwords, 'pretend'>,
): SignInThrottle {
  const oneAtATime = createKeyedMutex()

  const count: SignInThrottle['count'] = key => changeAlone(limits, key, afterFailure)
  const reset: SignInThrottle['reset'] = async keys => {
    await limits.deleteMany({ _id: { $in: [...keys] } })
  }
  const uncount: SignInThrottle['uncount'] = async key => {
    await changeAlone(limits, key, beforeFailure)
  }

  return {
    count,
    uncount,
    reset,
    async look(key, fits, { isPartial } = { isPartial: false }) {
      const outcome = await oneAtATime([key], async () => {
        if (!(await count(key))) return 'throttled'
        try {
          if (!(await fits())) return 'wrong'
        } catch (error) {
          await uncount(key)
          throw error
        }
        await (isPartial ? uncount(key) : reset([key]))
        return 'right'
      })
      if (outcome === 'throttled') await pretend()
      return outcome
    },
  }
}

/** Returns the counter keys of an address: one per account, or the address itself if it has none. */
export function limitKeysOf(
  { secrets }: Pick<Context, 'secrets'>,
  emailKey: string,
  accounts: readonly User[],
): string[] {
  if (accounts.length === 0) return [secrets['sign-in-address'].hash(emailKey)]
  return accounts.map(({ _id }) => String(_id))
}

/** Returns the limit after another failure; undefined while locked. */
export function afterFailure(limit: Content<SignInLimit> | null, now: Date): Content<SignInLimit> | undefined {
  if (limit?.lockedUntil && limit.lockedUntil > now) return undefined
  const after = (ms: number) => new Date(now.getTime() + ms)
  const failures = (limit?.failures ?? 0) + 1
  if (failures < MAX_FAILURES) return { failures, lockedUntil: null, expiresAt: limit?.expiresAt ?? after(WINDOW_MS) }
  const lockMs = Math.min(FIRST_LOCK_MS * 2 ** (failures - MAX_FAILURES), MAX_LOCK_MS)
  return { failures, lockedUntil: after(lockMs), expiresAt: after(RETENTION_MS) }
}

/** Returns the limit without a counted attempt that was never checked. */
function beforeFailure(limit: Content<SignInLimit> | null): Content<SignInLimit> | undefined {
  return limit ? { ...limit, failures: limit.failures - 1, lockedUntil: null } : undefined
}
