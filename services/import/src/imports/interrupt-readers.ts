import { pause } from '@rollcall/runtime'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { type Import, unfinished } from './import.model.ts'
import { BATCHES_IN_FLIGHT } from './slice.ts'

const POLL_MS = 50

/** A job whose worker was interrupted, and the first batch that has to be sent again. */
export type Interrupted = Pick<Import, '_id' | 'nextBatch'>

/**
 * Makes the workers of a file discard what they have read of it. Call it in the transaction that changes the file: a worker
 * that acquires the job afterwards reads the changed file. Returns the jobs of which a worker may have sent batches.
 */
export async function interruptReaders(
  { imports, uploads }: Tenant,
  upload: Types.ObjectId,
  tx: ClientSession,
): Promise<Interrupted[]> {
  // Conflicts with a start: its job is found here, or it begins after this transaction.
  await uploads.updateOne({ _id: upload }, { $inc: { rowsErased: 1 } }, { tx })
  const active = await imports.find({ upload, state: 'active' }, { tx, projection: { nextBatch: 1 } })
  // Also those that are waiting: one can be acquired at the same time.
  await imports.updateMany({ upload, state: { $in: unfinished } }, { $inc: { fence: 1 } }, { tx })
  return active
}

/**
 * Resolves when what the interrupted workers have sent can change nothing any more. A batch is applied once, so that is
 * when all that were in flight are applied anew or the job has ended, at the latest after the timeout of a call.
 */
export async function untilSuperseded(
  { imports }: Tenant,
  jobs: readonly Interrupted[],
  timeoutMs: number,
): Promise<void> {
  if (jobs.length === 0) return
  const until = Date.now() + timeoutMs
  const behind = jobs.map(({ _id, nextBatch }) => ({ _id, nextBatch: { $lt: nextBatch + BATCHES_IN_FLIGHT } }))
  const open = { state: { $in: unfinished }, $or: behind }
  while (Date.now() < until && (await imports.findOne(open, { projection: { _id: 1 } }))) await pause(POLL_MS)
}
