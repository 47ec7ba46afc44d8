import { AppError } from '@rollcall/contract'
import { createTally } from '@rollcall/runtime'

/**
 * Takes turns at computing passwords. Sign-ins wait apart from passwords that are being set, so that neither keeps the
 * other waiting for long.
 */
export type PasswordQueue = {
  /** @throws {AppError} unavailable where too many wait */
  signIn<T>(task: () => Promise<T>): Promise<T>
  /**
   * @param setters who sets the password, by every name that counts on its own: its organization, its address
   * @throws {AppError} too_many_pending where one of the setters has too many waiting, unavailable where all have
   */
  set<T>(task: () => Promise<T>, setters: readonly string[]): Promise<T>
}

/** Limits of the queue, all per process. */
export type PasswordQueueOptions = {
  /** How many passwords are computed at once. */
  parallelism: number
  /** How many more may wait, in each of the two lines. */
  maxWaiting: number
  /** How many passwords of one setter may wait to be set. */
  maxWaitingPerSetter: number
}

/** One turn in this many goes to a password that is being set, however many sign-ins wait. */
const TURNS_PER_SET = 4
const RETRY_AFTER_SECONDS = 1

/** Creates the queue of one process. */
export function createPasswordQueue(options: PasswordQueueOptions): PasswordQueue {
  const { parallelism, maxWaiting, maxWaitingPerSetter } = options
  const signIns: (() => void)[] = []
  const sets: (() => void)[] = []
  const waiting = createTally()
  let running = 0
  let turns = 0

  const next = () => {
    const isForSet = ++turns % TURNS_PER_SET === 0
    return isForSet ? (sets.shift() ?? signIns.shift()) : (signIns.shift() ?? sets.shift())
  }

  const take = async (line: (() => void)[]) => {
    if (running < parallelism) running++
    else if (line.length >= maxWaiting) throw new AppError('service.unavailable', {})
    else await new Promise<void>(resolve => line.push(resolve))
  }

  const run = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task()
    } finally {
      const resume = next()
      if (resume) resume()
      else running--
    }
  }

  const takeToSet = async (setters: readonly string[]) => {
    if (running >= parallelism && setters.some(setter => waiting.of(setter) >= maxWaitingPerSetter))
      throw new AppError('quota.too_many_pending', {
        limit: maxWaitingPerSetter,
        what: 'passwords waiting',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    for (const setter of setters) waiting.add(setter, 1)
    try {
      await take(sets)
    } finally {
      for (const setter of setters) waiting.add(setter, -1)
    }
  }

  return {
    async signIn(task) {
      await take(signIns)
      return run(task)
    },
    async set(task, setters) {
      await takeToSet(setters)
      return run(task)
    },
  }
}
