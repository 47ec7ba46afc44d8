import { type DueJob, type DueJobOptions, type DueRecord, dueJob } from './due-job.ts'
import type { Job } from './job.ts'
import { type LeaseItem, type LeaseJob, type LeaseJobOptions, leaseJob } from './lease-job.ts'
import { type QueueJobOptions, queueJob } from './queue-job.ts'

/**
 * Defines a kind of background work: a name, where its work is stored, and `run`, which does one slice of it. The storage
 * decides how replicas share the work:
 * - `queue`: a Redis queue hands out ids; the database says what each of them has to do. For work that many share fairly.
 * - `due`: records with a `dueAt` and `attempts`; a replica claims a due record by moving its `dueAt`. For many short tasks.
 * - `lease`: a lease per item, one replica at a time. For long work in steps, and for what one replica does for all.
 *
 * Whatever the storage, the same work may run twice for a moment after a crash or a stall, so writes are fenced; failures
 * back off; a stop ends the slice and leaves the rest to other replicas; and one set of metrics and alerts covers the job.
 */
export function defineJob(options: QueueJobOptions): Job
export function defineJob<T extends DueRecord>(options: DueJobOptions<T>): DueJob
export function defineJob<T extends LeaseItem>(options: LeaseJobOptions<T>): LeaseJob<T>
export function defineJob<T extends DueRecord & LeaseItem>(
  options: QueueJobOptions | DueJobOptions<T> | LeaseJobOptions<T>,
): Job {
  if ('queue' in options) return queueJob(options)
  return 'due' in options ? dueJob(options) : leaseJob(options)
}
