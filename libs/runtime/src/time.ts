import { setTimeout as delay } from 'node:timers/promises'

/** Raised when something did not end in time. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/** Waits; ends early, without an error, when the signal fires. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  if (signal?.aborted) return
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
}

/** About so long: replicas that wait for the same do not all act at once. */
export const about = (ms: number): number => ms * (0.75 + Math.random() / 2)

/**
 * Runs a task that must end within `ms`, else rejects with `TimeoutError`.
 * The task's signal fires at that moment, so that it can let go of what it holds.
 */
export const within = async <T>(ms: number, what: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController()
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new TimeoutError(`${what} did not end within ${ms} ms`)
    controller.abort(error)
    reject(error)
  }, ms)
  try {
    return await Promise.race([task(controller.signal), expiry])
  } finally {
    clearTimeout(timer)
  }
}
