import { AppError } from '@rollcall/rpc'
import { sum } from './import.model.ts'
import { Hopeless, isOver, noteProgress, type Turn } from './turn.ts'

/** Batches that the worker of a cancelled import may have sent off after its last checkpoint. */
const inFlight = 2

/**
 * Takes the batches of an import back, from the last one to the first. `nextBatch` counts how many are taken back, so a
 * turn goes on where the one before it stopped; a batch that is taken back again answers what it came to.
 * @returns whether all of them are taken back
 */
export async function undoBatches(turn: Turn): Promise<boolean> {
  const { collections, job, call } = turn
  const imported = await collections.imports.findOne({ _id: job.undoes })
  if (!imported) throw new Hopeless('the import is not there any more')
  const last = imported.nextBatch + inFlight - 1
  for (let number = last - job.nextBatch; number >= 0; number--) {
    call.signal?.throwIfAborted()
    const { deleted, restored, kept } = await undoBatch(turn, number)
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

async function undoBatch({ context, job, call }: Turn, number: number) {
  try {
    return await context.batches.undoBatch({ jobId: String(job.undoes), number }, call)
  } catch (error) {
    const isUnknown = error instanceof AppError && error.code === 'not_found' // none of its rows could be imported
    if (isUnknown) return { deleted: 0, restored: 0, kept: 0 }
    throw error
  }
}
