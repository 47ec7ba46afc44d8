import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimeout } from './scaled-timeout.ts'

const SOON_MS = 20
/** The longest pause, and the share of the time so far that a pause takes. */
const LATE_MS = 250
const SHARE = 0.15

/**
 * Repeats `look` until it returns something other than undefined, false or zero, and returns that. Fails with `what` was
 * waited for after `withinMs` on a quiet machine; more on a slow one. It looks each `everyMs`, and less often after a
 * while, because what many tests wait for at once shares their machine.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | 0 | Promise<T | undefined | false | 0>,
  { withinMs = 20_000, everyMs = SOON_MS }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false && seen !== 0) return seen
    const waitedMs = performance.now() - startedAt
    assert.ok(waitedMs < scaledTimeout(withinMs), `waited ${Math.round(waitedMs)} ms in vain: ${what}`)
    await sleep(Math.max(everyMs, Math.min(waitedMs * SHARE, LATE_MS)))
  }
}
