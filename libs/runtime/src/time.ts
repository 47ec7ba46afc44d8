import { setTimeout as delay } from 'node:timers/promises'

/** Thrown when a task exceeds its time limit. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/** Waits for `ms`. Resolves early, without an error, when the signal fires. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined)
}

/** Returns `ms` with up to 25 % of jitter either way, so that replicas do not all act at once. */
export function withJitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2)
}

/**
 * Runs a task with a time limit of `ms`; rejects with `TimeoutError` when it is exceeded.
 * The task's signal fires at that moment, so that the task can release its resources.
 */
export async function within<T>(ms: number, what: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
