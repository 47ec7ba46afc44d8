import { pause } from './time.ts'

/** Options of `retry`. */
export type RetryOptions = {
  /** Maximum number of attempts; without it, only the deadline or the signal ends the retries. */
  attempts?: number
  /** Epoch milliseconds after which no further attempt starts. */
  deadline?: number
  /** Ends the current wait; the last error is thrown. */
  signal?: AbortSignal
  /** Longest wait before the second attempt; doubles with each attempt. Default 50. */
  baseMs?: number
  /** Longest wait between attempts. Default 5,000. */
  maxMs?: number
  /** Whether an error can be retried. Default: always. */
  retryable?: (error: unknown) => boolean
  /** Called before each wait. */
  onRetry?: (error: unknown, attempt: number, waitMs: number) => void
}

/** Returns the wait after a failed attempt (1, 2, …): random between half and all of an exponential bound. */
export function backoffMs(attempt: number, { baseMs = 50, maxMs = 5000 }: RetryOptions = {}): number {
  const bound = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  return Math.round((bound * (1 + Math.random())) / 2)
}

/** Runs a task until it succeeds. Throws its last error when the options allow no further attempt. */
export async function retry<T>(task: (attempt: number) => Promise<T>, options: RetryOptions = {}): Promise<T> {
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
