/** Pauses after failed attempts, in units of five seconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. */
const PAUSES = [1, 60, 360, 1440, 3600, 7200, 10_080, 14_400, 17_280]
/** Pauses vary by this share, so that deliveries of one failure do not stay together. */
const JITTER = 0.2
const OVERLOADED_MS = 60_000

/** How an attempt failed. */
export type Failed = { retryAfterMs: number | null; isOverloaded: boolean }

/**
 * Returns the pause before the next attempt, in milliseconds; undefined after the tenth. The schedule is the example of
 * Standard Webhooks: ten attempts over 75 h 35 min. A Retry-After counts up to twice the pause.
 * @param failures failed attempts so far, at least 1
 * @param unitMs five seconds; less in tests
 * @param random from 0 to 1
 */
export function pauseMs(
  failures: number,
  { retryAfterMs, isOverloaded }: Failed,
  unitMs = 5_000,
  random = Math.random(),
): number | undefined {
  const units = PAUSES[failures - 1]
  if (units === undefined) return undefined
  const pause = Math.round(units * unitMs * (1 - JITTER + 2 * JITTER * random))
  const asked = Math.min(Math.max(retryAfterMs ?? 0, pause), 2 * units * unitMs)
  return isOverloaded ? Math.max(asked, (OVERLOADED_MS * unitMs) / 5_000) : asked
}
