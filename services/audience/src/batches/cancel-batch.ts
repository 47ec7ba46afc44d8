import { insertOf, type Scope } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Batch } from './batch.model.ts'

/** Cancels a batch that has not arrived yet. If it arrives later, it counts as undone. */
export async function cancelBatch(
  batches: Scope<Batch>,
  tx: ClientSession,
  job: Types.ObjectId,
  number: number,
): Promise<Batch> {
  const batch: Batch = {
    _id: new Types.ObjectId(),
    organization: batches.organization,
    job,
    number,
    outcomes: '',
    failures: [],
    optOutsKept: 0,
    created: [],
    changed: [],
    formerJobs: [],
    joined: [],
    at: new Date(),
    undone: { deleted: 0, restored: 0, kept: 0, removedFromLists: 0 },
  }
  await batches.bulkWrite([insertOf(batch)], { tx })
  return batch
}
