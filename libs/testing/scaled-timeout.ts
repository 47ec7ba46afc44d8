import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'

/** Duration of `work` on the idle reference machine, for which timeouts are chosen. */
const QUIET_MS = 2.8
const ROUNDS = 20_000
/** How long a measurement is valid. The slowest valid one is used, because load comes in bursts. */
const VALID_MS = 20_000
const INTERVAL_MS = 2_000

let measured: { at: number; factor: number }[] = []

/**
 * Returns how many times slower this machine is now than the idle reference machine, at least 1. It measures a fixed
 * amount of work, at most every two seconds, and the processes that wait for a core.
 */
export function slowness(): number {
  const now = performance.now()
  measured = measured.filter(({ at }) => now - at < VALID_MS)
  if (!measured.some(({ at }) => now - at < INTERVAL_MS)) measured.push({ at: now, factor: work() / QUIET_MS })
  const waiting = (loadavg()[0] ?? 0) / availableParallelism()
  return Math.max(1, waiting, ...measured.map(({ factor }) => factor))
}

/** Returns the timeout for the current slowness; `ms` is the timeout on the idle reference machine. */
export function scaledTimeout(ms: number): number {
  return Math.ceil(ms * slowness())
}

function work(): number {
  const startedAt = performance.now()
  pbkdf2Sync('password', 'salt', ROUNDS, 32, 'sha256')
  return performance.now() - startedAt
}
