import type { CallContext } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { dropFile } from '../uploads/spool.ts'
import { requestOf } from './file-batches.ts'
import { type Import, unfinished } from './import.model.ts'
import { type Counts, countsOf, sum } from './import-counters.ts'
import { failureEvents } from './import-events.ts'
import { BATCHES_IN_FLIGHT } from './slice.ts'

/**
 * Ends a job before it is complete, with its event. Batches in flight count where the audience has applied them, and are
 * cancelled where it has not: the job's counts are exactly what stays. Idempotent, also when called twice at once.
 */
export async function abortImport(
  { batches, store, logger }: Context,
  collections: Tenant,
  job: Import,
  failedReason: string,
  call: CallContext,
): Promise<void> {
  const { imports } = collections
  const counts = await cancelInFlight(batches, job, call)
  const ended = { state: 'failed', failedReason, finishedAt: new Date(), counts, rowStatuses: null, unchecked: null }
  const current = { _id: job._id, fence: job.fence, state: { $in: unfinished } }
  const wasOurs = await store.transaction(async tx => {
    const { matchedCount } = await imports.updateOne(current, { $set: ended }, { tx })
    if (matchedCount > 0) await addEvents(tx, failureEvents(job, failedReason, counts))
    return matchedCount > 0
  })
  if (!wasOurs) return
  logger.info({ job: String(job._id), organization: String(job.organization), reason: failedReason }, 'import failed')
  await dropFile(collections, job)
}

/** Cancels the batches in flight. @returns the job's counts, with those of batches that were applied already */
async function cancelInFlight(batches: Context['batches'], job: Import, call: CallContext): Promise<Counts> {
  if (job.kind !== 'import' || !job.startedAt) return job.counts
  let { counts } = job
  for (let ahead = 0; ahead < BATCHES_IN_FLIGHT; ahead++) {
    const request = { ...requestOf(job, []), number: job.nextBatch + ahead, settle: true }
    counts = sum(counts, countsOf(await batches.applyBatch(request, call)))
  }
  return counts
}
