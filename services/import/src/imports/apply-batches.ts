import type { Batch } from '@rollcall/csv'
import type { ApplyBatchRequestRow, ApplyBatchResponsePreview } from '@rollcall/protos/gen/audience-v1.ts'
import { failedRow, noteFailures, refusedRows } from './failed-rows.ts'
import type { Fates } from './fates.ts'
import { fileBatches, requestOf } from './file-batches.ts'
import { type Counts, countsOf, type FailedRow, noCounts, type RowPreview, sum } from './import.model.ts'
import { type Column, columnsOf, mapRow } from './map-row.ts'
import { surveyFile } from './survey.ts'
import { Hopeless, isOver, noteProgress, type Turn } from './turn.ts'

const errorsShown = 100
const rowsPreviewed = 20

/**
 * Applies the batches of an import from its checkpoint on, two in flight: while the audience writes one, the next is read.
 * Checkpoints follow in order, so what is in flight when the process dies is done again, and the audience knows it by its
 * number. A dry run does the same, and the audience writes nothing.
 * @returns whether the end of the file was reached
 * @throws {Hopeless} the file is not there any more
 */
export async function applyBatches(turn: Turn): Promise<boolean> {
  const { context, job, call } = turn
  const { definitions } = await context.attributes.describeAttributes({}, call)
  const columns = columnsOf(job, definitions)
  const fates = await surveyFile(turn, columns)
  if (!fates) return false
  const plan = { columns, fates }
  let inFlight: Promise<AppliedBatch> | undefined
  let number = job.nextBatch
  for await (const batch of fileBatches(turn, job.checkpoint)) {
    const applied = applyBatch(turn, plan, batch, number++)
    applied.catch(() => undefined) // awaited below; until then it must not count as unhandled
    if (inFlight) await checkpoint(turn, await inFlight)
    inFlight = applied
    if (!(await isOver(turn))) continue
    await checkpoint(turn, await inFlight)
    return false
  }
  if (inFlight) await checkpoint(turn, await inFlight)
  if (job.checkpoint.row < job.total) throw new Hopeless('the uploaded file is not there any more')
  return true
}

/** How the rows of the file are read, and what is known of them beforehand. */
type Plan = { columns: Column[]; fates: Fates }

type AppliedBatch = { batch: Batch; number: number; counts: Counts; failures: FailedRow[]; preview: RowPreview[] }

/** Sends the rows of a batch that can be imported, and counts what became of all of them. */
async function applyBatch(
  { context, collections, job, call }: Turn,
  { columns, fates }: Plan,
  batch: Batch,
  number: number,
): Promise<AppliedBatch> {
  const failures: FailedRow[] = []
  const applied: AppliedBatch = { batch, number, counts: { ...noCounts }, failures, preview: [] }
  const rows: ApplyBatchRequestRow[] = []
  const refused: number[] = []
  for (const source of batch.rows) {
    const fate = fates.of(source.row)
    const { row, failure } = mapRow(source, columns, job.emptyValues)
    if (fate === 'refused') refused.push(source.row)
    else if (failure) failures.push(failedRow(job, source, failure))
    else if (fate === 'loser') applied.counts.skipped++
    else rows.push(row)
  }
  if (refused.length > 0) failures.push(...(await collections.failedRows.find({ job: job._id, row: { $in: refused } })))
  if (rows.length > 0) {
    const dryRun = job.kind === 'dry-run' && { dryRun: true, previewRows: rowsPreviewed }
    const answer = await context.batches.applyBatch({ ...requestOf(job, rows), number, ...dryRun }, call)
    applied.counts = sum(applied.counts, countsOf(answer))
    failures.push(...refusedRows(job, batch.rows, columns, answer))
    applied.preview = answer.previews.map(previewOf)
  }
  applied.counts.failed = failures.length
  failures.sort((a, b) => a.row - b.row)
  return applied
}

function previewOf({ row, email, outcome, changes }: ApplyBatchResponsePreview): RowPreview {
  return {
    row,
    email,
    outcome: outcome === 'CREATED' ? 'created' : 'updated',
    changes: changes.map(({ key, from, to }) => ({ field: key, from, to })),
  }
}

/** Notes a batch as done; its failures first. */
async function checkpoint(turn: Turn, { batch, number, counts, failures, preview }: AppliedBatch): Promise<void> {
  const { collections, job } = turn
  await noteFailures(collections, failures)
  const shown = failures
    .slice(0, errorsShown - job.errors.length)
    .map(({ _id, organization, job: _, cells, faulty, ...failure }) => failure)
  await noteProgress(turn, {
    checkpoint: batch.checkpoint,
    nextBatch: number + 1,
    counts: sum(job.counts, counts),
    errors: [...job.errors, ...shown],
    preview: [...job.preview, ...preview].slice(0, rowsPreviewed),
  })
}
