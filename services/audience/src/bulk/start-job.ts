import type { BulkJobStarted } from '@rollcall/protos/gen/audience-v1.ts'
import { actorOf, type Call, originOf } from '@rollcall/rpc'
import { addEvents, type Draft, requireRoom } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { startedEvent } from './bulk-events.ts'
import { type BulkJob, unfinished } from './bulk-job.model.ts'

const MAX_UNFINISHED = 20

/** A job to be started. */
export type NewJob = Pick<Draft<BulkJob>, 'kind' | 'dryRun'> & Partial<Draft<BulkJob>>

/** Stores a job and starts work on it. @throws {AppError} quota.too_many_pending beyond 20 unfinished jobs */
export async function startJob(context: Context, job: NewJob, call: Call): Promise<BulkJobStarted> {
  const stored = await storeJob(context, job, call)
  context.bulkJob.wake(stored)
  return { jobId: String(stored._id) }
}

/** Stores a job, with its event. Start work on it with `wake` or `complete`. */
export function storeJob(context: Context, job: NewJob, call: Call): Promise<BulkJob> {
  return context.store.transaction(tx => insertJob(context, job, call, tx), {
    queue: `bulk jobs of ${call.caller.organizationId}`,
  })
}

/** Stores a job with its event in the given transaction. Start work on it with `wake` afterwards. */
export async function insertJob(context: Context, job: NewJob, call: Call, tx: ClientSession): Promise<BulkJob> {
  const { bulkJobs } = context.collections.of(call.caller.organizationId)
  const of = { state: { $in: unfinished } }
  const quota = { limit: MAX_UNFINISHED, what: 'unfinished bulk jobs per organization', of, retryAfterSeconds: 10 }
  await requireRoom(bulkJobs, quota, tx)
  const draft = { ...job, createdBy: actorOf(call.caller), origin: originOf(call) }
  const stored = await bulkJobs.insertOne(draft as Draft<BulkJob>, { tx })
  await addEvents(tx, [startedEvent(stored)])
  return stored
}
