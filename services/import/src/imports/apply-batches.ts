import type { Batch, Row } from '@rollcall/csv'
import type { ApplyBatchRequestRow, ApplyBatchResponsePreview } from '@rollcall/protos/gen/audience-v1.ts'
import type { Tenant } from '../collections.ts'
import { resolveDuplicates } from './duplicates.ts'
import { failedRow, refusedRows, storeFailures } from './failed-rows.ts'
import { fileBatches, requestOf } from './file-batches.ts'
import type { FailedRow, Import, RowFailure, RowPreview } from './import.model.ts'
import { type Counts, countsOf, noCounts, sum } from './import-counters.ts'
import { type Column, columnsOf, mapRow } from './map-row.ts'
import type { RowStatuses } from './row-status.ts'
import { BATCHES_IN_FLIGHT, isOver, type Slice, saveProgress, UnrecoverableError } from './slice.ts'

const ERRORS_SHOWN = 100
const ROWS_PREVIEWED = 20

/**
 * Pass 3 of an import, after passes 1 and 2: applies the batches from the checkpoint on, two in flight. While the audience
 * writes one, the next is read. Checkpoints follow in order.
 * @returns whether the end of the file was reached
 * @throws {UnrecoverableError} the file was deleted
 */
export async function applyBatches(slice: Slice): Promise<boolean> {
  const { context, job, call } = slice
  const { definitions } = await context.attributes.describeAttributes({}, call)
  const columns = columnsOf(job, definitions)
  const statuses = await resolveDuplicates(slice, columns)
  if (!statuses) return false
  let inFlight: Promise<AppliedBatch> | undefined
  let number = job.nextBatch
  const plan = { columns, statuses, maybeSent: number + BATCHES_IN_FLIGHT }
  for await (const batch of fileBatches(slice, job.checkpoint)) {
    const applied = applyBatch(slice, plan, batch, number++)
    applied.catch(() => undefined) // awaited below; until then it must not count as unhandled
    if (inFlight) await checkpoint(slice, await inFlight)
    inFlight = applied
    if (!(await isOver(slice))) continue
    await checkpoint(slice, await inFlight)
    return false
  }
  if (inFlight) await checkpoint(slice, await inFlight)
  if (job.checkpoint.row < job.total) throw new UnrecoverableError('the uploaded file is not there any more')
  return true
}

/**
 * How rows are mapped, and their statuses from passes 1 and 2. Another worker may have sent the batches with a number below
 * `maybeSent`.
 */
type Plan = { columns: Column[]; statuses: RowStatuses; maybeSent: number }

type AppliedBatch = { batch: Batch; number: number; counts: Counts; failures: FailedRow[]; preview: RowPreview[] }

/** Sends the valid rows of a batch, and counts the outcomes of all of them. */
async function applyBatch(
  { context, collections, job, call }: Slice,
  { columns, statuses, maybeSent }: Plan,
  batch: Batch,
  number: number,
): Promise<AppliedBatch> {
  const failures: FailedRow[] = []
  const applied: AppliedBatch = { batch, number, counts: { ...noCounts }, failures, preview: [] }
  const rows: ApplyBatchRequestRow[] = []
  const rejected: Rejected[] = []
  for (const source of batch.rows) {
    const status = statuses.of(source.row)
    const { row, failure } = mapRow(source, columns, job.emptyValues)
    if (status === 'rejected') rejected.push({ source, failure })
    else if (failure) failures.push(failedRow(job, source, failure))
    else if (status === 'superseded') applied.counts.skipped++
    else rows.push(row)
  }
  // An empty batch keeps the rows from being applied that another worker may have sent before they were erased.
  if (rows.length > 0 || (job.kind === 'import' && number < maybeSent)) {
    const dryRun = job.kind === 'dry-run' && { dryRun: true, previewRows: ROWS_PREVIEWED }
    const answer = await context.batches.applyBatch({ ...requestOf(job, rows), number, ...dryRun }, call)
    applied.counts = sum(applied.counts, countsOf(answer))
    failures.push(...refusedRows(job, batch.rows, columns, answer))
    applied.preview = answer.previews.map(previewOf)
  }
  applied.counts.failed = failures.length + rejected.length
  failures.push(...(await rejectedRows(collections, job, rejected)))
  failures.sort((a, b) => a.row - b.row)
  return applied
}

/** A row that pass 2 has rejected, and why it cannot be mapped now. */
type Rejected = { source: Row; failure: RowFailure | undefined }

/** Returns what pass 2 has stored of rejected rows. An erasure may have deleted that, and blanked the row. */
async function rejectedRows({ failedRows }: Tenant, job: Import, rejected: readonly Rejected[]): Promise<FailedRow[]> {
  if (rejected.length === 0) return []
  const found = await failedRows.find({ job: job._id, row: { $in: rejected.map(({ source }) => source.row) } })
  const stored = new Set(found.map(({ row }) => row))
  const erased = rejected.flatMap(({ source, failure }) =>
    failure && !stored.has(source.row) ? [failedRow(job, source, failure)] : [],
  )
  return [...found, ...erased]
}

function previewOf({ row, email, outcome, changes }: ApplyBatchResponsePreview): RowPreview {
  return {
    row,
    email,
    outcome: outcome === 'CREATED' ? 'created' : 'updated',
    changes: changes.map(({ key, from, to }) => ({ field: key, from, to })),
  }
}

/** Saves that a batch is done, after its failures. */
async function checkpoint(slice: Slice, { batch, number, counts, failures, preview }: AppliedBatch): Promise<void> {
  const { collections, job } = slice
  await storeFailures(collections, failures)
  const shown = failures
    .slice(0, ERRORS_SHOWN - job.errors.length)
    .map(({ _id, organization, job: _, cells, faulty, ...failure }) => failure)
  const isPreviewed = preview.length > 0 && job.preview.length < ROWS_PREVIEWED
  await saveProgress(slice, {
    checkpoint: batch.checkpoint,
    nextBatch: number + 1,
    counts: sum(job.counts, counts),
    // Only where they grow: each of a thousand checkpoints would write them to the oplog again.
    ...(shown.length > 0 && { errors: [...job.errors, ...shown] }),
    ...(isPreviewed && { preview: [...job.preview, ...preview].slice(0, ROWS_PREVIEWED) }),
  })
}
