import { sum } from './import-counters.ts'
import { BATCHES_IN_FLIGHT, isOver, type Slice, saveProgress, UnrecoverableError } from './slice.ts'

/**
 * Reverts the batches of an import, from the last to the first. `nextBatch` counts those that are reverted, so the next
 * slice resumes after them. Idempotent: a batch that is reverted again returns the same counts.
 * @returns whether all of them are reverted
 * @throws {UnrecoverableError} the import was deleted
 */
export async function undoBatches(slice: Slice): Promise<boolean> {
  const { context, collections, job, call } = slice
  const imported = await collections.imports.findOne({ _id: job.undoes })
  if (!imported) throw new UnrecoverableError('the import is not there any more')
  // Including those in flight at its end: one that has not arrived is cancelled.
  const last = imported.nextBatch + BATCHES_IN_FLIGHT - 1
  for (let number = last - job.nextBatch; number >= 0; number--) {
    call.signal?.throwIfAborted()
    const { deleted, restored, kept } = await context.batches.undoBatch({ jobId: String(job.undoes), number }, call)
    const row = job.checkpoint.row + deleted + restored + kept
    await saveProgress(slice, {
      checkpoint: { ...job.checkpoint, row },
      nextBatch: job.nextBatch + 1,
      counts: sum(job.counts, { removed: deleted, updated: restored, skipped: kept }),
      total: number === 0 ? row : Math.max(job.total, row),
    })
    if (await isOver(slice)) return false
  }
  return true
}
