import type { CallContext } from '@rollcall/rpc'
import type { Collections, Context } from '../context.ts'
import { requestOf } from './file-batches.ts'
import { type Counts, countsOf, type Import, sum } from './import.model.ts'
import { batchesInFlight, unfinished } from './turn.ts'

/**
 * Ends a job before its time. Batches that were under way count as far as they have been applied, and come to nothing
 * where they have not: what the job says it did is what stays. Done twice at once it is done once.
 */
export async function breakOff(
  { batches }: Context,
  { imports }: Collections,
  job: Import,
  failedReason: string,
  call: CallContext,
): Promise<void> {
  const counts = await settle(batches, job, call)
  const ended = { state: 'failed', failedReason, finishedAt: new Date(), counts, fates: null, unchecked: null }
  await imports.updateOne({ _id: job._id, fence: job.fence, state: { $in: unfinished } }, { $set: ended })
}

async function settle(batches: Context['batches'], job: Import, call: CallContext): Promise<Counts> {
  if (job.kind !== 'import' || !job.startedAt) return job.counts
  let { counts } = job
  for (let ahead = 0; ahead < batchesInFlight; ahead++) {
    const request = { ...requestOf(job, []), number: job.nextBatch + ahead, settle: true }
    counts = sum(counts, countsOf(await batches.applyBatch(request, call)))
  }
  return counts
}
