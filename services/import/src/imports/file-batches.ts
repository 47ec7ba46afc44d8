import { type Batch, type Checkpoint, readCsv } from '@rollcall/csv'
import type { ApplyBatchRequest, ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import { readStored } from '../uploads/spool.ts'
import type { Import } from './import.model.ts'
import type { Turn } from './turn.ts'

/** The rows of a job's file from a place on, until the turn is told to stop. */
export async function* fileBatches({ context, collections, job, call }: Turn, from: Checkpoint): AsyncGenerator<Batch> {
  const source = readStored(collections.chunks, job.upload, from.offset)
  for await (const batch of readCsv(source, job.format, { from, limits: context.limits })) {
    call.signal?.throwIfAborted()
    yield batch
  }
}

/** What the audience is asked for some rows of a job. */
export function requestOf(
  { _id, duplicateStrategy, tags, lists }: Import,
  rows: ApplyBatchRequestRow[],
): Omit<ApplyBatchRequest, 'number'> {
  return { jobId: String(_id), duplicateStrategy, tags, listIds: lists.map(String), rows }
}
