import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimeout } from './scaled-timeout.ts'

/**
 * Repeats `look` until it returns something other than undefined, false or zero, and returns that. Fails with `what` was
 * waited for after `withinMs` on a quiet machine; more on a slow one.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | 0 | Promise<T | undefined | false | 0>,
  { withinMs = 20_000, everyMs = 20 }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false && seen !== 0) return seen
    const waitedMs = performance.now() - startedAt
    assert.ok(waitedMs < scaledTimeout(withinMs), `waited ${Math.round(waitedMs)} ms in vain: ${what}`)
    await sleep(everyMs)
  }
}
