import type { CallContext } from '@rollcall/rpc'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { type Import, unfinished } from './import.model.ts'

/** A time slice of work on a job, with its dependencies. */
export type Slice = {
  context: Context
  collections: Tenant
  /** The record as this slice has last written it. */
  job: Import
  call: CallContext
  /** Start of the time that `workedMs` does not include yet. */
  since: number
  /** When the slice ends if another organization waits. */
  until: number
}

/** Batches in flight at a time: so many may have been sent after the last checkpoint. */
export const BATCHES_IN_FLIGHT = 2

/** Another worker has acquired the job, or it was cancelled: the results of this slice are discarded. */
export class FenceLost extends Error {
  override name = 'FenceLost'
}

/** The job can never be completed. The message is the `failedReason` that the API shows. */
export class UnrecoverableError extends Error {
  override name = 'UnrecoverableError'
}

/** Starts a slice of a job that was acquired. */
export function startSlice(context: Context, collections: Tenant, job: Import, call: CallContext): Slice {
  const now = performance.now()
  return { context, collections, job, call, since: now, until: now + context.sliceMs }
}

/** Writes changes to the job with the time worked, and resets its failures. @throws {FenceLost} */
export async function saveProgress(slice: Slice, changes: Partial<Import>): Promise<void> {
  const { collections, job } = slice
  const now = performance.now()
  const progress = { ...changes, failures: 0, workedMs: job.workedMs + Math.round(now - slice.since) }
  const { matchedCount } = await collections.imports.updateOne(fenced(job), { $set: progress })
  if (matchedCount === 0) throw new FenceLost()
  Object.assign(job, progress)
  slice.since = now
}

/** Matches the job's record until another worker acquires the job or it is cancelled. */
export function fenced({ _id, fence }: Import): Pick<Import, '_id' | 'fence' | 'state'> {
  return { _id, fence, state: 'active' }
}

/** Whether the slice's time is over and another organization waits. If none does, the slice is extended. */
export async function isOver(slice: Slice): Promise<boolean> {
  if (performance.now() < slice.until) return false
  const { context, job } = slice
  slice.until += context.sliceMs
  const { organization } = job
  const other = await context.collections.unscoped.imports.exists({
    state: { $in: unfinished },
    organization: { $ne: organization },
  })
  return other !== null
}
