import { createRequire } from 'node:module'
import { backoffMs, type Logger, pause, within, withJitter } from '@rollcall/runtime'
import type { Job as QueuedJob } from 'bullmq'
import { BACKOFF, type Backoff, type Job, type JobRuntime, type Outcome } from './job.ts'
import { createMeter, type Meter } from './meter.ts'
import { createRedis } from './redis.ts'

/** A queue of wake-ups. Redis holds ids only; the database is authoritative for the work. */
export type QueueOptions = {
  /** Redis; see `createRedis`. */
  url: string
  /** Prefix of every key, so that several stacks can share a Redis. */
  prefix: string
}

/** The side that requests work. */
export type JobQueue = {
  /**
   * Requests a slice of the job with this id (letters, digits, `-`, `_`; not only digits), not before `delayMs`. Does
   * nothing for a job that is queued or running. Resolves within a second, even without Redis: the workers' poll queues
   * what is missing.
   */
  enqueue(id: string, options?: { delayMs?: number }): Promise<void>
  /** Removes a waiting job from the queue. A running one finds out from the database. */
  cancel(id: string): Promise<void>
  close(): Promise<void>
}

/** An id with work to do, and since when it waits: when it was stored, or last made progress. */
export type Waiting = { id: string; since: Date }

/** A job whose ids a queue in Redis hands out. */
export type QueueJobOptions = {
  /** Also the name of the queue. */
  name: string
  queue: QueueOptions
  /** Returns all ids with work to do, from the database: what Redis lost is queued again. */
  unfinished(): Promise<readonly Waiting[]>
  /**
   * Runs a slice of the job. `again` queues another slice behind all that wait now: short slices with organizations as ids
   * share the workers fairly. A rejection queues another slice after the backoff.
   * When the signal fires (the process stops, or another worker has the job), reject at once.
   * After a crash or a stall, two workers may run the same job for a moment: writes must be fenced.
   */
  run(id: string, slice: { signal: AbortSignal }): Promise<Outcome>
  /** How often to search the database for unfinished jobs, in milliseconds. Default 5,000. */
  pollMs?: number
  /** Jobs that this process runs concurrently. Default 2. */
  concurrency?: number
  backoff?: Backoff
}

const require = createRequire(import.meta.url)
/** Loads the library on first use: it takes a tenth of the start of a service, and most have no queue. */
const bullmq = () => require('bullmq') as typeof import('bullmq')

/** The job of a killed worker goes to another one when its lock has expired, after two checks. */
const LOCK_MS = 3000
const STALL_CHECK_MS = 2000
const ENQUEUE_DEADLINE_MS = 1000
const CLOSE_DEADLINE_MS = 5000
const POLL_MS = 5000
const USABLE_ID = /^(?!\d+$)[\w-]+$/

/** Opens the queue of the job of this name, to request work. */
export function createJobQueue(name: string, options: QueueOptions, logger: Logger): JobQueue {
  const { add, remove, close } = openQueue(name, options, logger)
  return {
    enqueue: async (id, { delayMs = 0 } = {}) => {
      if (!USABLE_ID.test(id)) throw new TypeError(`"${id}" cannot be the id of a job`)
      await add(id, delayMs).catch(err => logger.warn({ id, err }, 'job not queued, left to the poll'))
    },
    cancel: async id => {
      await remove(id).catch(err => logger.warn({ id, err }, 'job not removed from the queue'))
    },
    close,
  }
}

/** Creates a job over ids in a queue; see `defineJob`. */
export function queueJob(options: QueueJobOptions): Job {
  const { name } = options
  let stop: () => Promise<void> = async () => {}
  return {
    name,
    start(runtime) {
      stop = startWorker(options, runtime)
    },
    stop: () => stop(),
  }
}

/** Starts a worker of a queue. @returns the function that stops it */
function startWorker(options: QueueJobOptions, runtime: JobRuntime): () => Promise<void> {
  const { name, concurrency = 2, backoff = BACKOFF } = options
  const meter = createMeter(name, runtime)
  const { logger } = runtime
  const stopping = new AbortController()
  const running = new Map<string, Run>()
  const queue = openQueue(name, options.queue, logger)
  const redis = createRedis({ url: options.queue.url, role: 'queue', logger })

  const runQueued = async (job: QueuedJob, token: string | undefined): Promise<void> => {
    const id = String(job.id)
    await running.get(id)?.end() // this worker lost the job and got it again
    if (stopping.signal.aborted) return await postpone(job, 0, token)
    const run = startRun(taken => {
      const signal = AbortSignal.any([taken, stopping.signal])
      return meter.run(() => options.run(id, { signal }), signal, { id, attempt: job.attemptsMade + 1 })
    })
    running.set(id, run)
    let outcome: Outcome = 'again'
    try {
      outcome = await run.outcome
    } catch (error) {
      if (!stopping.signal.aborted) throw error
    } finally {
      if (running.get(id) === run) running.delete(id)
    }
    if (outcome !== 'done') await postpone(job, outcome === 'again' ? 0 : outcome, token)
  }

  const worker = new (bullmq().Worker)(name, runQueued, {
    connection: redis,
    prefix: hashTag(options.queue.prefix),
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: STALL_CHECK_MS,
    maxStalledCount: Number.MAX_SAFE_INTEGER, // a killed worker is not the job's fault
    runRetryDelay: 500,
    settings: { backoffStrategy: failures => backoffMs(failures, backoff) },
  })
  worker.on('error', err => logger.debug({ err }, 'job worker'))
  worker.on('lockRenewalFailed', ids => {
    for (const id of ids) running.get(id)?.cancel()
  })
  const polling = pollUntil(stopping.signal, options, meter, queue)

  return async () => {
    stopping.abort()
    const closed = worker.close(redis.status !== 'ready') // first: stops it from taking jobs
    await Promise.all([...running.values()].map(run => run.outcome.catch(() => undefined)))
    await within(CLOSE_DEADLINE_MS, 'closing the job worker', () => closed).catch(err =>
      logger.warn({ err }, 'job worker not closed, its jobs go to others when their locks expire'),
    )
    redis.disconnect()
    await polling
    await queue.close()
  }
}

/** Queues all unfinished ids of the database, at every poll. */
async function pollUntil(
  stopping: AbortSignal,
  { unfinished, pollMs = POLL_MS }: QueueJobOptions,
  meter: Meter,
  queue: ReturnType<typeof openQueue>,
): Promise<void> {
  while (!stopping.aborted) {
    await meter.poll(async () => {
      const waiting = await unfinished()
      meter.backlog(
        waiting.length,
        waiting.map(({ since }) => since),
      )
      for (const { id } of waiting) await queue.add(id, 0)
    })
    await pause(withJitter(pollMs), stopping)
  }
}

/** Queues the job again after the delay, behind all that wait then. */
async function postpone(job: QueuedJob, delayMs: number, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs, token)
  throw new (bullmq().DelayedError)()
}

type Run = {
  outcome: Promise<Outcome>
  cancel(): void
  end(): Promise<void>
}

function startRun(task: (signal: AbortSignal) => Promise<Outcome>): Run {
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

function openQueue(name: string, { url, prefix }: QueueOptions, logger: Logger) {
  const redis = createRedis({ url, role: 'request', logger })
  const queue = new (bullmq().Queue)(name, { connection: redis, prefix: hashTag(prefix) })
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
    remove: (id: string) => within(ENQUEUE_DEADLINE_MS, `removing job ${id}`, () => queue.remove(id)),
    close: async () => {
      await within(CLOSE_DEADLINE_MS, 'closing the job queue', () => queue.close()).catch(() => undefined)
      redis.disconnect()
    },
  }
}

/** Returns the prefix as a hash tag: all keys of a queue must be on one node of a cluster. */
function hashTag(prefix: string): string {
  return `{${prefix}}`
}
