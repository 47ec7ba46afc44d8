import { insertOf, type Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { type Batch, newBatch } from './batch.model.ts'

/** Cancels a batch that has not arrived yet. If it arrives later, it counts as undone. */
export async function cancelBatch(
  batches: Scope<Batch>,
  tx: ClientSession,
  job: Types.ObjectId,
  number: number,
): Promise<Batch> {
  const undone = { deleted: 0, restored: 0, kept: 0, removedFromLists: 0 }
  const batch: Batch = { ...newBatch({ organization: batches.organization, job, number }, []), undone }
  await batches.bulkWrite([insertOf(batch)], { tx })
  return batch
}
