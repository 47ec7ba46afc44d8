/** How many mails may go now, and if none may, when the next one may. */
export type Pace = {
  count: number
  waitMs: number
  /** Returns what to store as `nextAt` if so many mails go. */
  nextAt(used: number): number
}

const MINUTE_MS = 60_000
/** Mails of less than this time go together. */
const TOGETHER_MS = 100
/** From this rate on, a mail that is late does not delay the others. */
const CATCHING_UP = 60
/** Hand-overs take a little longer at one time than at another, and may not exceed the rate either. */
const MARGIN = 1.005

/**
 * Returns how many mails a rate allows now: one at a time in equal distances, at high rates a few at once (GCRA). No 60
 * seconds have more mails than the rate.
 * @param nextAt when the next mail may go, in milliseconds since 1970; null before the first one
 */
export function paceOf(perMinute: number, nextAt: number | null, now: number): Pace {
  const together = Math.max(perMinute < CATCHING_UP ? 1 : 2, Math.floor((perMinute * TOGETHER_MS) / MINUTE_MS))
  const distanceMs = (MINUTE_MS / (perMinute - together + 1)) * MARGIN
  const earliest = now - (together - 1) * distanceMs
  const from = Math.max(nextAt ?? now, earliest)
  const count = from > now ? 0 : Math.floor((now - from) / distanceMs) + 1
  return { count, waitMs: Math.max(0, from - now), nextAt: used => from + used * distanceMs }
}
