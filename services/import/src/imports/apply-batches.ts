import { type Batch, type Row, readCsv } from '@rollcall/csv'
import type { ApplyBatchResponse, ApplyBatchResponsePreview } from '@rollcall/protos/gen/audience-v1.ts'
import { isDuplicate } from '@rollcall/store'
import { mongo, Types } from 'mongoose'
import type { Collections } from '../context.ts'
import { readStored } from '../uploads/spool.ts'
import {
  type Counts,
  type FailedRow,
  type Import,
  noCounts,
  type RowFailure,
  type RowPreview,
  sum,
} from './import.model.ts'
import { findLosers, isLoser } from './losers.ts'
import { type Column, columnsOf, mapRow } from './map-row.ts'
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
  const plan = { columns, losers: job.losers?.buffer ?? (await surveyLosers(turn, columns)) }
  let inFlight: Promise<AppliedBatch> | undefined
  let number = job.nextBatch
  for await (const batch of batchesOf(turn)) {
    call.signal?.throwIfAborted()
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

/** How the rows of the file are read, and which of them lose to another of their email. */
type Plan = { columns: Column[]; losers: Uint8Array }

type AppliedBatch = { batch: Batch; number: number; counts: Counts; failures: FailedRow[]; preview: RowPreview[] }

function batchesOf({ context, collections, job }: Turn): AsyncIterable<Batch> {
  const source = readStored(collections.chunks, job.upload, job.checkpoint.offset)
  return readCsv(source, job.format, { from: job.checkpoint, limits: context.limits })
}

/** Before the first batch: which rows lose to another of their email. */
async function surveyLosers(turn: Turn, columns: Column[]): Promise<Uint8Array> {
  const { losers, duplicatesInFile } = await findLosers(batchesOf(turn), columns, turn.job)
  await noteProgress(turn, { losers: new mongo.Binary(losers), duplicatesInFile })
  return losers
}

/** Sends the rows of a batch that can be imported, and counts what became of all of them. */
async function applyBatch(
  { context, job, call }: Turn,
  { columns, losers }: Plan,
  batch: Batch,
  number: number,
): Promise<AppliedBatch> {
  const failures: FailedRow[] = []
  const applied: AppliedBatch = { batch, number, counts: { ...noCounts }, failures, preview: [] }
  const rows = []
  for (const source of batch.rows) {
    const { row, failure } = mapRow(source, columns, job.emptyValues)
    if (failure) failures.push(failedRow(job, source, failure))
    else if (isLoser(losers, row.row)) applied.counts.skipped++
    else rows.push(row)
  }
  if (rows.length > 0) {
    const { duplicateStrategy, emptyValues, tags } = job
    const answer = await context.batches.applyBatch(
      {
        jobId: String(job._id),
        number,
        duplicateStrategy,
        emptyValues,
        tags,
        listIds: job.lists.map(String),
        ...(job.kind === 'dry-run' && { dryRun: true, previewRows: rowsPreviewed }),
        rows,
      },
      call,
    )
    countOutcomes(applied.counts, answer)
    failures.push(...refusedRows(job, batch.rows, columns, answer))
    applied.preview = answer.previews.map(previewOf)
  }
  applied.counts.failed = failures.length
  return applied
}

function countOutcomes(counts: Counts, { outcomes, optOutsKept, addedToLists }: ApplyBatchResponse): void {
  for (const outcome of outcomes) {
    if (outcome === 'CREATED') counts.created++
    else if (outcome === 'UPDATED') counts.updated++
    else if (outcome === 'UNCHANGED') counts.unchanged++
    else if (outcome === 'SKIPPED') counts.skipped++
  }
  counts.optOutsKept = optOutsKept
  counts.addedToLists = addedToLists
}

function previewOf({ row, email, outcome, changes }: ApplyBatchResponsePreview): RowPreview {
  return {
    row,
    email,
    outcome: outcome === 'CREATED' ? 'created' : 'updated',
    changes: changes.map(({ key, from, to }) => ({ field: key, from: JSON.parse(from), to: JSON.parse(to) })),
  }
}

/** Rows that only the audience could refuse, a missing required attribute for one. */
function refusedRows(
  job: Import,
  rows: readonly Row[],
  columns: readonly Column[],
  { failures }: ApplyBatchResponse,
): FailedRow[] {
  return failures.map(({ row, field, value, code, message }) => {
    const source = rows.find(candidate => candidate.row === row)!
    const target = field.replace(/^attributes\./, '')
    const column = columns.find(candidate => candidate.target === target)?.header ?? null
    return failedRow(job, source, { row, line: source.line, column, field, value, code, message })
  })
}

/** What is noted of a row that failed: whole cells, to be corrected; of all else as much as can be shown. */
function failedRow({ _id: job, organization }: Import, { cells, error }: Row, failure: RowFailure): FailedRow {
  const { column, value, message } = failure
  const shown = {
    column: column && beginning(column, 1_000),
    value: beginning(value, 200),
    message: beginning(message, 1_000),
  }
  return { _id: new Types.ObjectId(), organization, job, ...failure, ...shown, cells, faulty: error?.column ?? null }
}

/** A copy: a text cut from a file may keep a whole piece of it in memory. */
function beginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

/** Notes a batch as done. Its failures come first: noted twice they are one, since a job has each row once. */
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

async function noteFailures({ failedRows }: Collections, failures: readonly FailedRow[]): Promise<void> {
  try {
    await failedRows.bulkWrite(failures.map(document => ({ insertOne: { document } })))
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}
