import { AppError } from '@rollcall/contract'
import { createTally } from '@rollcall/runtime'

/**
 * Limits concurrent password hashing. Sign-ins and new passwords have separate queues, so that neither delays the other
 * for long.
 */
export type PasswordQueue = {
  /** @throws {AppError} service.unavailable if the queue is full */
  signIn<T>(task: () => Promise<T>): Promise<T>
  /**
   * @param setters keys with separate limits: the organization and the client address
   * @throws {AppError} quota.too_many_pending if one setter has too many queued, service.unavailable if the queue is
   * full
   */
  set<T>(task: () => Promise<T>, setters: readonly string[]): Promise<T>
}

/** Limits per process. */
export type PasswordQueueOptions = {
  /** Maximum concurrent hashes. */
  parallelism: number
  /** Maximum length of each of the two queues. */
  maxWaiting: number
  /** Maximum queued new passwords per setter. */
  maxWaitingPerSetter: number
}

/** Every n-th slot goes to a new password, even if sign-ins are waiting. */
const TASKS_PER_SET = 4
const RETRY_AFTER_SECONDS = 1

/** Creates the password queue of this process. */
export function createPasswordQueue(options: PasswordQueueOptions): PasswordQueue {
  const { parallelism, maxWaiting, maxWaitingPerSetter } = options
  const signIns: (() => void)[] = []
  const sets: (() => void)[] = []
  const waiting = createTally()
  let running = 0
  let started = 0

  const next = () => {
    const isForSet = ++started % TASKS_PER_SET === 0
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
