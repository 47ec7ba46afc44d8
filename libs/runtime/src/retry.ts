import { pause } from './time.ts'

/** How often and how patiently `retry` tries. */
export type RetryOptions = {
  /** Tries in all; without it only the deadline or the signal ends the trying. */
  attempts?: number
  /** Epoch milliseconds after which no further try starts. */
  deadline?: number
  /** Ends the waiting; the last error is thrown. */
  signal?: AbortSignal
  /** Longest wait before the second try; doubles from try to try. Default 50. */
  baseMs?: number
  /** Longest wait at all. Default 5,000. */
  maxMs?: number
  /** Whether another try can help. Default: always. */
  retryable?: (error: unknown) => boolean
  /** Told before each wait. */
  onRetry?: (error: unknown, attempt: number, waitMs: number) => void
}

/** The wait after the given failed try (1, 2, …): random between half and all of an exponentially growing bound. */
export const backoffMs = (attempt: number, { baseMs = 50, maxMs = 5000 }: RetryOptions = {}): number => {
  const bound = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  return Math.round((bound * (1 + Math.random())) / 2)
}

/** Runs a task until it succeeds. Throws the task's last error once the options allow no further try. */
export const retry = async <T>(task: (attempt: number) => Promise<T>, options: RetryOptions = {}): Promise<T> => {
  const { attempts = Number.POSITIVE_INFINITY, deadline = Number.POSITIVE_INFINITY, signal } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await task(attempt)
    } catch (error) {
      const waitMs = backoffMs(attempt, options)
      const spent = attempt >= attempts || Date.now() + waitMs > deadline || signal?.aborted
      if (spent || options.retryable?.(error) === false) throw error
      options.onRetry?.(error, attempt, waitMs)
      await pause(waitMs, signal)
      if (signal?.aborted) throw error
    }
  }
}
