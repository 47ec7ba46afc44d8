import { sum } from './import.model.ts'
import { batchesInFlight, Hopeless, isOver, noteProgress, type Turn } from './turn.ts'

/**
 * Takes the batches of an import back, from the last one to the first. `nextBatch` counts how many are taken back, so a
 * turn goes on where the one before it stopped; a batch that is taken back again answers what it came to.
 * @returns whether all of them are taken back
 */
export async function undoBatches(turn: Turn): Promise<boolean> {
  const { context, collections, job, call } = turn
  const imported = await collections.imports.findOne({ _id: job.undoes })
  if (!imported) throw new Hopeless('the import is not there any more')
  // Also those that were under way at its end: where they have not arrived they come to nothing when they do.
  const last = imported.nextBatch + batchesInFlight - 1
  for (let number = last - job.nextBatch; number >= 0; number--) {
    call.signal?.throwIfAborted()
    const { deleted, restored, kept } = await context.batches.undoBatch({ jobId: String(job.undoes), number }, call)
    const row = job.checkpoint.row + deleted + restored + kept
    await noteProgress(turn, {
      checkpoint: { ...job.checkpoint, row },
      nextBatch: job.nextBatch + 1,
      counts: sum(job.counts, { removed: deleted, updated: restored, skipped: kept }),
      total: number === 0 ? row : Math.max(job.total, row),
    })
    if (await isOver(turn)) return false
  }
  return true
}
