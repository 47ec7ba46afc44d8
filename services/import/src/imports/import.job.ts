import { randomUUID } from 'node:crypto'
import { type Batch, CsvError, type Row, readCsv } from '@rollcall/csv'
import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { type CallContext, serviceCaller } from '@rollcall/rpc'
import { addEvents, isDuplicate } from '@rollcall/store'
import { mongo, Types } from 'mongoose'
import type { Collections, Context } from '../context.ts'
import { readStored } from '../uploads/spool.ts'
import type { Counts, FailedRow, Import, RowFailure } from './import.model.ts'
import { findLosers, isLoser } from './losers.ts'
import { type Column, columnsOf, mapRow } from './map-row.ts'

const errorsShown = 100
const unfinished: Import['state'][] = ['waiting', 'active']

/** The queue knows organizations, not jobs: each gets its turn, so that many imports of one never hold up the others. */
export function queueIdOf(organizationId: string): string {
  return `org-${organizationId}`
}

/** The queue's ids of the organizations that have an import to work on. */
export async function organizationsWithImports({ models }: Context): Promise<string[]> {
  const ids = await models.imports.distinct('organization', { state: { $in: unfinished } }).exec()
  return ids.map(id => queueIdOf(String(id)))
}

/** Someone else works on the job now, or it was cancelled: nothing that this turn has in hand counts any more. */
class FenceLost extends Error {
  override name = 'FenceLost'
}

/**
 * One turn of an organization: works on its oldest unfinished import until that is done or the turn's time is over.
 * The record carries everything that a worker needs to go on; each step of it is fenced, so of two workers that believe
 * they have the job only the later one gets anywhere.
 * @returns done when the organization has no import left
 */
export async function runTurn(context: Context, queueId: string, signal: AbortSignal): Promise<'done' | 'again'> {
  const organizationId = queueId.slice('org-'.length)
  const collections = context.of({ organizationId })
  const call = { caller: serviceCaller('import', organizationId), signal }
  const [oldest] = await collections.imports.find({ state: { $in: unfinished } }, { sort: { _id: 1 }, limit: 1 })
  if (!oldest) return 'done'
  try {
    const job = await takeOver(collections, oldest)
    await work(context, collections, job, call)
  } catch (error) {
    if (error instanceof FenceLost) return 'again'
    if (!(error instanceof CsvError)) throw error
    await fail(collections, oldest, error.message)
  }
  return 'again'
}

async function takeOver({ imports }: Collections, { _id, startedAt }: Import): Promise<Import> {
  const taken = await imports.findOneAndUpdate(
    { _id, state: { $in: unfinished } },
    { $set: { state: 'active', startedAt: startedAt ?? new Date() }, $inc: { fence: 1 } },
  )
  if (!taken) throw new FenceLost()
  return taken
}

async function work(context: Context, collections: Collections, job: Import, call: CallContext): Promise<void> {
  const startedAt = performance.now()
  const { definitions } = await context.attributes.describeAttributes({}, call)
  const columns = columnsOf(job, definitions)
  const losers = job.losers?.buffer ?? (await surveyLosers(context, collections, job, columns))
  const turn: Turn = { context, collections, job, call, columns, losers, startedAt }

  const finished = await applyBatches(turn)
  if (finished) await complete(turn)
}

type Turn = {
  context: Context
  collections: Collections
  job: Import
  call: CallContext
  columns: Column[]
  losers: Uint8Array
  /** When the time that is not yet in `workedMs` began. */
  startedAt: number
}

function batchesOf({ limits }: Context, { chunks }: Collections, job: Import): AsyncIterable<Batch> {
  const source = readStored(chunks, job.upload, job.checkpoint.offset)
  return readCsv(source, job.format, { from: job.checkpoint, limits })
}

/** Before the first batch: which rows lose to another of their email. */
async function surveyLosers(
  context: Context,
  collections: Collections,
  job: Import,
  columns: Column[],
): Promise<Uint8Array> {
  const { losers, duplicatesInFile } = await findLosers(batchesOf(context, collections, job), columns, job)
  await fenced(collections, job, { losers: new mongo.Binary(losers), duplicatesInFile })
  job.duplicatesInFile = duplicatesInFile
  return losers
}

/**
 * Applies batches from the checkpoint on, two in flight: while the audience writes one, the next is read. Checkpoints
 * follow in order, so what is in flight when the process dies is done again, and the audience knows it by its number.
 * @returns whether the end of the file was reached
 */
async function applyBatches(turn: Turn): Promise<boolean> {
  const { context, collections, job, call } = turn
  let until = turn.startedAt + context.turnMs
  let inFlight: Promise<AppliedBatch> | undefined
  let number = job.nextBatch
  for await (const batch of batchesOf(context, collections, job)) {
    call.signal?.throwIfAborted()
    const applied = applyBatch(turn, batch, number++)
    applied.catch(() => undefined) // awaited below; until then it must not count as unhandled
    if (inFlight) await checkpoint(turn, await inFlight)
    inFlight = applied
    if (performance.now() < until) continue
    if (await othersWait(context, job)) {
      await checkpoint(turn, await inFlight)
      return false
    }
    until += context.turnMs
  }
  if (inFlight) await checkpoint(turn, await inFlight)
  return true
}

/** Whether another organization has an import to work on: only then is it worth to give the turn away. */
async function othersWait({ models }: Context, { organization }: Import): Promise<boolean> {
  const other = await models.imports.exists({ state: { $in: unfinished }, organization: { $ne: organization } })
  return other !== null
}

type AppliedBatch = { batch: Batch; number: number; counts: Counts; failures: FailedRow[] }

/** Sends the rows of a batch that can be imported, and counts what became of all of them. */
async function applyBatch(
  { context, job, call, columns, losers }: Turn,
  batch: Batch,
  number: number,
): Promise<AppliedBatch> {
  const failures: FailedRow[] = []
  const counts: Counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, optOutsKept: 0 }
  const rows = []
  for (const source of batch.rows) {
    const { row, failure } = mapRow(source, columns, job.emptyValues)
    if (failure) failures.push(failedRow(job, source, failure))
    else if (isLoser(losers, row.row)) counts.skipped++
    else rows.push(row)
  }
  if (rows.length > 0) {
    const { duplicateStrategy, emptyValues, tags } = job
    const request = { jobId: String(job._id), number, duplicateStrategy, emptyValues, tags, rows, listIds: [] }
    const response = await context.batches.applyBatch(request, call)
    countOutcomes(counts, response)
    failures.push(...refusedRows(job, batch.rows, columns, response))
  }
  counts.failed = failures.length
  return { batch, number, counts, failures }
}

function countOutcomes(counts: Counts, { outcomes, optOutsKept }: ApplyBatchResponse): void {
  for (const outcome of outcomes) {
    if (outcome === 'CREATED') counts.created++
    else if (outcome === 'UPDATED') counts.updated++
    else if (outcome === 'UNCHANGED') counts.unchanged++
    else if (outcome === 'SKIPPED') counts.skipped++
  }
  counts.optOutsKept = optOutsKept
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

function failedRow({ _id: job, organization }: Import, { cells }: Row, failure: RowFailure): FailedRow {
  return { _id: new Types.ObjectId(), organization, job, ...failure, cells }
}

/** Notes a batch as done. Its failures come first: noted twice they are one, since a job has each row once. */
async function checkpoint(turn: Turn, { batch, number, counts, failures }: AppliedBatch): Promise<void> {
  const { collections, job } = turn
  await noteFailures(collections, failures)
  const now = performance.now()
  const shown = failures
    .slice(0, errorsShown - job.errors.length)
    .map(({ _id, organization, job: _, cells, ...failure }) => failure)
  const progress = {
    checkpoint: batch.checkpoint,
    nextBatch: number + 1,
    counts: sum(job.counts, counts),
    errors: [...job.errors, ...shown],
    workedMs: job.workedMs + Math.round(now - turn.startedAt),
  }
  await fenced(collections, job, progress)
  Object.assign(job, progress)
  turn.startedAt = now
}

async function noteFailures({ failedRows }: Collections, failures: readonly FailedRow[]): Promise<void> {
  try {
    await failedRows.bulkWrite(failures.map(document => ({ insertOne: { document } })))
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    created: a.created + b.created,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
    skipped: a.skipped + b.skipped,
    failed: a.failed + b.failed,
    optOutsKept: a.optOutsKept + b.optOutsKept,
  }
}

/** Writes to the job's record as long as it is ours. */
async function fenced({ imports }: Collections, { _id, fence }: Import, changes: Partial<Import>): Promise<void> {
  const { matchedCount } = await imports.updateOne({ _id, fence, state: 'active' }, { $set: changes })
  if (matchedCount === 0) throw new FenceLost()
}

/** The end of a job and the event that tells of it are one transaction; the file is not needed any more. */
async function complete({ context, collections, job }: Turn): Promise<void> {
  const { imports, chunks, uploads } = collections
  await context.store.transaction(async session => {
    const changes = { state: 'completed', finishedAt: new Date(), losers: null }
    const { matchedCount } = await imports.updateOne(
      { _id: job._id, fence: job.fence, state: 'active' },
      { $set: changes },
      { session },
    )
    if (matchedCount === 0) throw new FenceLost()
    await addEvents(session, [completedEvent(job)])
  })
  await chunks.deleteMany({ upload: job.upload })
  await uploads.deleteOne({ _id: job.upload })
}

function completedEvent({ _id, organization, total, counts }: Import) {
  const { optOutsKept: _, ...outcomes } = counts
  return {
    id: randomUUID(),
    type: 'audience.import_completed',
    source: 'import',
    subject: String(_id),
    organization: String(organization),
    time: new Date().toISOString(),
    data: { jobId: String(_id), total, ...outcomes },
  }
}

async function fail({ imports }: Collections, { _id }: Import, reason: string): Promise<void> {
  const changes = { state: 'failed', failedReason: reason, finishedAt: new Date() }
  await imports.updateOne({ _id, state: 'active' }, { $set: changes, $inc: { fence: 1 } })
}
