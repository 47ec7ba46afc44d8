import { about, backoffMs, type Logger, type Metrics, pause, within } from '@rollcall/runtime'
import { DelayedError, type Job, Queue, Worker } from 'bullmq'
import { createRedis } from './redis.ts'

/** A queue of wake-ups. Redis holds nothing but ids: what is to be done, and whether it still is, stands in the database. */
export type QueueOptions = {
  /** Redis; see `createRedis`. */
  url: string
  /** What the jobs are, for example `imports`. */
  name: string
  /** Put before every key, so that several stacks can share a Redis. */
  prefix: string
  logger: Logger
}

/** The side that asks for work. */
export type JobQueue = {
  /**
   * Asks for a turn of the job with this id (letters, digits, `-`, `_`; not a mere number), after `delayMs` at the earliest.
   * A job that waits already, or runs, is left as it is. Returns within a second and never rejects for want of Redis:
   * what is not queued now is queued by the workers' sweep.
   */
  enqueue(id: string, options?: { delayMs?: number }): Promise<void>
  /** Takes a waiting job out of the queue. One that runs finds out from the database. */
  cancel(id: string): Promise<void>
  close(): Promise<void>
}

/** What `startWorker` takes. Times in milliseconds. */
export type WorkerOptions = QueueOptions & {
  /**
   * Does a turn of the job. `done`: there is no more to do. `again`: another turn, behind all who wait now; so whoever keeps
   * turns short and uses the organization's id as the job's shares the workers fairly between organizations.
   * Rejecting: another turn after a growing wait, until the job itself decides to give up.
   * When the signal fires (the process stops, or another worker has taken the job over) end at once by rejecting.
   * The same job may, after a crash or a stall, be run by two workers for a moment: writes must be fenced.
   */
  handle: (id: string, signal: AbortSignal) => Promise<'done' | 'again'>
  /** The ids of all jobs that have something to do now, from the database: whatever Redis lost is queued again. */
  sweep: () => Promise<readonly string[]>
  /** Default 5,000. */
  sweepEveryMs?: number
  /** Jobs run side by side in this process. Default 2. */
  concurrency?: number
  /** The wait after the first failure, doubling from there. Default 1,000. */
  backoffBaseMs?: number
  /** The longest wait: so long after what it needs is back a job may still stand still. Default 30,000. */
  backoffMaxMs?: number
  metrics?: Metrics
}

/** A running worker. */
export type JobWorker = {
  /** Tells the running jobs to end and waits for them; what they leave undone goes to the other workers at once. */
  stop(): Promise<void>
}

/** A killed worker's job goes to another once its lock is gone and two checks have missed it. */
const LOCK_MS = 3000
const STALL_CHECK_MS = 2000
const ENQUEUE_DEADLINE_MS = 1000
const CLOSE_DEADLINE_MS = 5000
const USABLE_ID = /^(?!\d+$)[\w-]+$/

/** Opens a queue to ask for work. */
export const createQueue = (options: QueueOptions): JobQueue => {
  const { add, remove, close } = openQueue(options)
  return {
    enqueue: async (id, { delayMs = 0 } = {}) => {
      if (!USABLE_ID.test(id)) throw new TypeError(`"${id}" cannot be the id of a job`)
      await add(id, delayMs).catch(err => options.logger.warn({ job: id, err }, 'job not queued, left to the sweep'))
    },
    cancel: async id => {
      await remove(id).catch(err => options.logger.warn({ job: id, err }, 'job not taken out of the queue'))
    },
    close,
  }
}

/** Starts to work on the jobs of a queue. */
export const startWorker = (options: WorkerOptions): JobWorker => {
  const { name, logger, concurrency = 2, sweepEveryMs = 5000 } = options
  const { backoffBaseMs: baseMs = 1000, backoffMaxMs: maxMs = 30_000 } = options
  const stopping = new AbortController()
  const running = new Map<string, Run>()
  const queue = openQueue(options)
  const redis = createRedis({ ...options, role: 'queue' })
  const count = options.metrics && countJobs(options.metrics, name)

  const runTurn = async (job: Job, token: string | undefined): Promise<void> => {
    const id = String(job.id)
    await running.get(id)?.end() // this very worker lost the job and was given it again
    if (stopping.signal.aborted) return await toEndOfLine(job, token)
    const run = startRun(signal => options.handle(id, AbortSignal.any([signal, stopping.signal])))
    running.set(id, run)
    try {
      const outcome = await run.outcome
      count?.turns.inc({ queue: name, outcome })
      if (outcome === 'done') return
    } catch (err) {
      if (!stopping.signal.aborted) {
        count?.turns.inc({ queue: name, outcome: 'failed' })
        logger.warn({ job: id, queue: name, attempt: job.attemptsMade + 1, err }, 'job failed, it will be tried again')
        throw err
      }
    } finally {
      if (running.get(id) === run) running.delete(id)
    }
    await toEndOfLine(job, token)
  }

  const worker = new Worker(name, runTurn, {
    connection: redis,
    prefix: hashTag(options.prefix),
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: STALL_CHECK_MS,
    maxStalledCount: Number.MAX_SAFE_INTEGER, // being killed is no fault of the job
    runRetryDelay: 500,
    settings: { backoffStrategy: failures => backoffMs(failures, { baseMs, maxMs }) },
  })
  worker.on('error', err => logger.debug({ queue: name, err }, 'job worker'))
  worker.on('lockRenewalFailed', ids => {
    for (const id of ids) running.get(id)?.cancel()
  })

  const sweepUntilStopped = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const ids = await options.sweep()
        count?.unfinished.set({ queue: name }, ids.length)
        for (const id of ids) await queue.add(id, 0)
        count?.sweeps.inc({ queue: name, outcome: 'done' })
      } catch (err) {
        count?.sweeps.inc({ queue: name, outcome: 'failed' })
        logger.warn({ queue: name, err }, 'sweep for jobs failed')
      }
      await pause(about(sweepEveryMs), stopping.signal)
    }
  }
  const sweeping = sweepUntilStopped()

  return {
    stop: async () => {
      stopping.abort()
      const closed = worker.close(redis.status !== 'ready') // called first: from now on it takes no job
      await Promise.all([...running.values()].map(run => run.outcome.catch(() => undefined)))
      await within(CLOSE_DEADLINE_MS, 'closing the job worker', () => closed).catch(err =>
        logger.warn({ queue: name, err }, 'job worker not closed, its jobs go to others when their locks expire'),
      )
      redis.disconnect()
      await sweeping
      await queue.close()
    },
  }
}

/** Due now, but behind all who wait. */
async function toEndOfLine(job: Job, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now(), token)
  throw new DelayedError()
}

type Run = {
  outcome: Promise<'done' | 'again'>
  cancel(): void
  end(): Promise<void>
}

function startRun(task: (signal: AbortSignal) => Promise<'done' | 'again'>): Run {
  const controller = new AbortController()
  const outcome = task(controller.signal)
  return {
    outcome,
    cancel: () => controller.abort(),
    end: async () => {
      controller.abort()
      await outcome.catch(() => undefined)
    },
  }
}

function openQueue({ url, name, prefix, logger }: QueueOptions) {
  const redis = createRedis({ url, role: 'request', logger })
  const queue = new Queue(name, { connection: redis, prefix: hashTag(prefix) })
  queue.on('error', err => logger.debug({ queue: name, err }, 'job queue'))
  return {
    add: (id: string, delayMs: number) =>
      within(ENQUEUE_DEADLINE_MS, `queueing job ${id}`, () =>
        queue.add(name, null, {
          jobId: id,
          delay: delayMs,
          attempts: Number.MAX_SAFE_INTEGER,
          backoff: { type: 'growing' },
          removeOnComplete: true,
          removeOnFail: true,
        }),
      ),
    remove: (id: string) => within(ENQUEUE_DEADLINE_MS, `taking out job ${id}`, () => queue.remove(id)),
    close: async () => {
      await within(CLOSE_DEADLINE_MS, 'closing the job queue', () => queue.close()).catch(() => undefined)
      redis.disconnect()
    },
  }
}

/** The keys of a queue have to lie on one node of a cluster. */
function hashTag(prefix: string): string {
  return `{${prefix}}`
}

/** What there is to count, all of it from zero: nobody sees a first failure grow out of nothing. */
function countJobs(metrics: Metrics, queue: string) {
  const turns = metrics.counter({
    name: 'rollcall_job_turns_total',
    help: 'Turns of jobs by outcome: done, again, failed.',
    labels: ['queue', 'outcome'],
  })
  const sweeps = metrics.counter({
    name: 'rollcall_job_sweeps_total',
    help: 'Looks for jobs that the queue has lost, by outcome: done, failed (the database or the queue is away).',
    labels: ['queue', 'outcome'],
  })
  const unfinished = metrics.gauge({
    name: 'rollcall_jobs_unfinished',
    help: 'Jobs that have something to do, as this replica saw it last.',
    labels: ['queue'],
  })
  for (const outcome of ['done', 'again', 'failed']) turns.inc({ queue, outcome }, 0)
  for (const outcome of ['done', 'failed']) sweeps.inc({ queue, outcome }, 0)
  return { turns, sweeps, unfinished }
}
