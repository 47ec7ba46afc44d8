import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'

/** What `work` takes on the machine that timeouts are chosen for, while it does nothing else. */
const quietMs = 14
const rounds = 100_000
/** How long a measurement counts; the slowest of them decides, since load comes in bursts. */
const countsMs = 20_000
const apartMs = 1_000

let measured: { at: number; factor: number }[] = []

/**
 * How many times slower this machine is now than a quiet one, at least 1: by a fixed piece of work, measured again at most
 * once a second, and by the processes that wait for a core.
 */
export function slowness(): number {
  const now = performance.now()
  measured = measured.filter(({ at }) => now - at < countsMs)
  if (!measured.some(({ at }) => now - at < apartMs)) measured.push({ at: now, factor: work() / quietMs })
  const waiting = (loadavg()[0] ?? 0) / availableParallelism()
  return Math.max(1, waiting, ...measured.map(({ factor }) => factor))
}

/** A timeout for a machine as slow as this one is now; `ms` is what a quiet one may take. */
export function patience(ms: number): number {
  return Math.ceil(ms * slowness())
}

function work(): number {
  const startedAt = performance.now()
  pbkdf2Sync('password', 'salt', rounds, 32, 'sha256')
  return performance.now() - startedAt
}
