import type { CallContext } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Collections, Context } from '../context.ts'
import { dropFile } from '../uploads/spool.ts'
import { requestOf } from './file-batches.ts'
import { type Counts, countsOf, type Import, sum } from './import.model.ts'
import { failureEvents } from './import-events.ts'
import { batchesInFlight, unfinished } from './turn.ts'

/**
 * Ends a job early, with the event. Batches that were under way count as far as they have been applied, and come to nothing
 * where they have not: what the job says it did is what stays. Done twice at once it is done once.
 */
export async function breakOff(
  { batches, store }: Context,
  collections: Collections,
  job: Import,
  failedReason: string,
  call: CallContext,
): Promise<void> {
  const { imports } = collections
  const counts = await settle(batches, job, call)
  const ended = { state: 'failed', failedReason, finishedAt: new Date(), counts, fates: null, unchecked: null }
  const current = { _id: job._id, fence: job.fence, state: { $in: unfinished } }
  const wasOurs = await store.transaction(async session => {
    const { matchedCount } = await imports.updateOne(current, { $set: ended }, { session })
    if (matchedCount > 0) await addEvents(session, failureEvents(job, failedReason, counts))
    return matchedCount > 0
  })
  if (wasOurs) await dropFile(collections, job)
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
