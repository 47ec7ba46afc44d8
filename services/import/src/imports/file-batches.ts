import { type Batch, type Checkpoint, readCsv } from '@rollcall/csv'
import type { ApplyBatchRequest, ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import { readStored } from '../uploads/spool.ts'
import type { Import } from './import.model.ts'
import type { Slice } from './slice.ts'

/** Streams the rows of a job's file from a checkpoint on. @throws the signal's reason when the worker stops */
export async function* fileBatches(
  { context, collections, job, call }: Slice,
  from: Checkpoint,
): AsyncGenerator<Batch> {
  const source = readStored(collections.chunks, job.upload, from.offset)
  for await (const batch of readCsv(source, job.format, { from, limits: context.limits })) {
    call.signal?.throwIfAborted()
    yield batch
  }
}

/** Returns the request that applies rows of a job, without the batch's number. */
export function requestOf(
  { _id, duplicateStrategy, tags, lists }: Import,
  rows: ApplyBatchRequestRow[],
): Omit<ApplyBatchRequest, 'number'> {
  return { jobId: String(_id), duplicateStrategy, tags, listIds: lists.map(String), rows }
}
