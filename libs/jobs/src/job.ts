import type { Lifecycle, Logger, Metrics } from '@rollcall/runtime'

/** A kind of background work, as a service starts and stops it. */
export type Job = {
  /** Names the kind in metrics, logs, leases and queues. Renaming it orphans what is stored under the old name. */
  name: string
  /** Starts to take work: new work, and what other processes left unfinished. */
  start(runtime: JobRuntime): void
  /** Starts no more slices and waits for running ones; other processes resume the rest. */
  stop(): Promise<void>
}

/** What a job reports to. */
export type JobRuntime = { logger: Logger; metrics: Metrics }

/**
 * What a slice of work leaves: `done`, no work; `again`, work for another slice; a number, work for another slice in so
 * many milliseconds.
 */
export type Outcome = 'done' | 'again' | number

/** Delays after failures in a row, in milliseconds: doubling from `baseMs` to `maxMs`. */
export type Backoff = { baseMs: number; maxMs: number }

/** The default backoff. */
export const BACKOFF: Backoff = { baseMs: 1000, maxMs: 30_000 }

/** Starts the jobs of a service, and stops them with it, concurrently. */
export function startJobs(
  { logger, metrics, onStop }: Pick<Lifecycle, 'logger' | 'metrics' | 'onStop'>,
  jobs: readonly Job[],
): void {
  for (const job of jobs) job.start({ logger: logger.child({ job: job.name }), metrics })
  onStop('jobs', async () => void (await Promise.all(jobs.map(job => job.stop()))))
}
