import type { Logger } from '@rollcall/runtime'
import type { JobRuntime, Outcome } from './job.ts'

/** Measures one kind of work and logs its failures. */
export type Meter = {
  logger: Logger
  /** Runs a slice and counts its outcome. Rejects as the slice does; after `signal` fired, that is no failure. */
  run(task: () => Promise<Outcome>, signal: AbortSignal, about: object): Promise<Outcome>
  /** Searches for work and counts the outcome. A failed search is logged and resolves to undefined. */
  poll<T>(search: () => Promise<T>): Promise<T | undefined>
  /** Sets how many items wait, and since when each of them, or only the oldest, waits. */
  backlog(unfinished: number, since: readonly Date[]): void
}

const DURATION_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600]

/** Creates the meter of a job. Every series starts at zero, so that `increase()` sees the first failure. */
export function createMeter(job_name: string, { logger, metrics }: JobRuntime): Meter {
  const runs = metrics.counter({
    name: 'rollcall_job_runs_total',
    help: 'Slices of background jobs, by outcome: done, again, delayed, failed, interrupted (stopped or taken over).',
    labels: ['job_name', 'outcome'],
  })
  const duration = metrics.histogram({
    name: 'rollcall_job_run_duration_seconds',
    help: 'Duration of a slice of a background job, in seconds.',
    labels: ['job_name'],
    buckets: DURATION_SECONDS,
  })
  const polls = metrics.counter({
    name: 'rollcall_job_polls_total',
    help: 'Searches of the database for work, by outcome: done, failed (the database or the queue is unavailable).',
    labels: ['job_name', 'outcome'],
  })
  const unfinished = metrics.gauge({
    name: 'rollcall_jobs_unfinished',
    help: 'Items that have work to do, at the last poll of this replica.',
    labels: ['job_name'],
  })
  const oldest = metrics.gauge({
    name: 'rollcall_job_oldest_waiting_seconds',
    help: 'Time since the longest waiting item was due or made progress, at the last poll of this replica, in seconds.',
    labels: ['job_name'],
  })
  for (const outcome of ['done', 'again', 'delayed', 'failed', 'interrupted']) runs.inc({ job_name, outcome }, 0)
  for (const outcome of ['done', 'failed']) polls.inc({ job_name, outcome }, 0)
  unfinished.set({ job_name }, 0)
  oldest.set({ job_name }, 0)

  return {
    logger,
    async run(task, signal, about) {
      const stopTimer = duration.startTimer({ job_name })
      try {
        const outcome = await task()
        runs.inc({ job_name, outcome: typeof outcome === 'number' ? 'delayed' : outcome })
        return outcome
      } catch (err) {
        runs.inc({ job_name, outcome: signal.aborted ? 'interrupted' : 'failed' })
        if (!signal.aborted) logger.warn({ ...about, err }, 'job failed, retrying')
        throw err
      } finally {
        stopTimer()
      }
    },
    async poll(search) {
      try {
        const found = await search()
        polls.inc({ job_name, outcome: 'done' })
        return found
      } catch (err) {
        polls.inc({ job_name, outcome: 'failed' })
        logger.warn({ err }, 'search for jobs failed, retrying')
        return undefined
      }
    },
    backlog(count, since) {
      const now = Date.now()
      unfinished.set({ job_name }, count)
      oldest.set({ job_name }, Math.max(0, ...since.map(date => now - date.getTime())) / 1000)
    },
  }
}
