import { AppError } from '@rollcall/contract'
import { defineJob, type LeaseJob, type LeaseSlice, type Outcome } from '@rollcall/jobs'
import type { BulkResultJson } from '@rollcall/protos/gen/audience-v1.ts'
import { withOrigin } from '@rollcall/runtime'
import {
  addEvents,
  type Filter,
  isOutOfTime,
  LeaseLost,
  objectId,
  parseFilter,
  runnable,
  untilAllReleased,
} from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Tenant } from '../collections.ts'
import { type Contact, contactFields } from '../contacts/contact.model.ts'
import type { Adding, Data } from '../context.ts'
import { eraseStep } from '../people/erase.step.ts'
import type { Erasers } from '../people/erasers.ts'
import { completedEvent } from './bulk-events.ts'
import { type BulkJob, changeOf, unfinished } from './bulk-job.model.ts'
import { changeContacts, previewChange } from './change-contacts.ts'
import { deleteFound, previewDeletion } from './delete-contacts.ts'
import { undoTraces } from './undo-traces.ts'

/** What one step did. */
export type StepResult = Pick<BulkResultJson, 'changed' | 'failed' | 'errors' | 'sample'>

/** The contacts of one step. `cursor` is the position after it, `notFound` counts ids and emails of no contact. */
type Slice = { ids: Types.ObjectId[]; matching: Filter; cursor: number; wanted?: number }

/** The most contacts that one transaction changes, and the positions that one query covers. */
const STEP = 500
/** Queries without a match, after which a step stores its position. */
const MAX_SPANS = 64
/** Timeout of the query of a span, shorter than the lease. */
const SPAN_MS = 4000
/** After this many failed or interrupted steps in a row, with pauses of about a minute in all, the job fails. */
const MAX_FAILURES = 15
const MAX_ERRORS = 100
const MAX_SAMPLE = 20
const BACKOFF = { baseMs: 50, maxMs: 10_000 }

/**
 * Changes and deletes contacts in bulk, and undoes that. Each job is a record that one replica at a time works on:
 *
 * 1. Find the next contacts: of ids and emails the next ones given; of a filter those below the cursor, so that each
 * contact is changed once and later ones are not; of an undo the last traces not yet undone.
 * 2. Change them with history, events and traces for the undo, and store counts and cursor, in one transaction under the
 * lease: a step that is repeated after a crash begins where the last one ended.
 * 3. Repeat until none is left. What cannot succeed, or fails too often in a row, fails the job; its changes remain.
 *
 * A job that can end mail to contacts is completed in a step of its own, after mail that was being handed over is out: none
 * goes out after the end of the job.
 *
 * Cancelling sets the state, which the step in progress notices at its end: it is rolled back.
 *
 * The erasure of a contact has steps of its own (`people/erase.step.ts`).
 */
export function bulkJob(data: Adding, erasers: Erasers, { step = STEP, backoff = BACKOFF } = {}): LeaseJob<BulkJob> {
  const { store, collections } = data
  const progressing: Progressing = new WeakSet()
  return defineJob<BulkJob>({
    name: 'bulk',
    lease: { store },
    backoff,
    unfinished: () =>
      collections.unscoped.bulkJobs
        .find({ state: { $in: unfinished } }, { values: 0 })
        .lean<BulkJob[]>()
        .exec(),
    load: ({ _id, organization }) => collections.of(organization).bulkJobs.findOne({ _id, state: { $in: unfinished } }),
    since: ({ updatedAt }) => updatedAt,
    run: (job, slice) =>
      withOrigin<Promise<Outcome>>(
        () => job.origin,
        async () => {
          if (job.kind === 'erase') return eraseStep(data, erasers, job, slice)
          await runStep(data, job, slice, step, progressing)
          return 'again'
        },
      ),
  })
}

/** The job was cancelled, or another step was made meanwhile: this one must leave nothing. */
class JobMoved extends Error {}

/** Too many steps in a row were begun and neither completed nor failed: their processes ended. */
class Interrupted extends Error {}

/** Signals of the leases whose last step was completed. */
type Progressing = WeakSet<AbortSignal>

/**
 * Runs one step. Counts it as failed before it starts, since it can kill its process. A step that follows a completed one
 * under the same lease is counted when it fails: if it kills its process, the next lease counts it.
 */
async function runStep(
  data: Adding,
  job: BulkJob,
  slice: LeaseSlice,
  size: number,
  progressing: Progressing,
): Promise<void> {
  if (job.failures >= MAX_FAILURES) return failJob(data, job, new Interrupted())
  const isCounted = !progressing.delete(slice.signal)
  if (isCounted) await countFailure(data, job)
  try {
    await step(data, job, slice, size)
    progressing.add(slice.signal)
  } catch (error) {
    if (error instanceof JobMoved) return // the next slice finds out what to do
    if (error instanceof LeaseLost) throw error
    if (job.failures + 1 >= MAX_FAILURES || isLasting(error)) await failJob(data, job, error)
    else if (!isCounted) await countFailure(data, job)
    throw error
  }
}

async function countFailure({ collections }: Adding, { _id, organization }: BulkJob): Promise<void> {
  const { bulkJobs } = collections.of(organization)
  const open = { _id, state: { $in: unfinished } }
  await bulkJobs.updateOne(open, { $inc: { failures: 1 } }, { timestamps: false }) // no progress
}

async function failJob({ collections, logger }: Adding, { _id, organization }: BulkJob, error: unknown): Promise<void> {
  const { bulkJobs } = collections.of(organization)
  const end = { state: 'failed', failedReason: reasonOf(error), refusal: refusalOf(error), finishedAt: new Date() }
  const { matchedCount } = await bulkJobs.updateOne({ _id, state: { $in: unfinished } }, { $set: end })
  if (matchedCount > 0) logger.info({ job: String(_id), organization: String(organization) }, 'bulk job failed')
}

/** Whether a repetition would fail as well. */
function isLasting(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'service.unavailable'
}

function refusalOf(error: unknown): BulkJob['refusal'] {
  if (isOutOfTime(error))
    return { code: 'request.invalid_field', details: { path: 'filter', reason: 'takes too long' } }
  if (!(error instanceof AppError)) return { code: 'service.unavailable', details: {} }
  const { code, details } = error as AppError
  return { code, details }
}

function reasonOf(error: unknown): string {
  if (isOutOfTime(error)) return 'the filter takes too long'
  if (error instanceof Interrupted) return 'interrupted too often'
  return error instanceof AppError ? error.message : 'service unavailable'
}

async function step(data: Adding, job: BulkJob, { fence }: LeaseSlice, size: number): Promise<void> {
  const tenant = data.collections.of(job.organization)
  const next = job.kind === 'undo' ? undefined : await nextContacts(tenant, job, size)
  if (endsMail(job) && isAtEnd(job, job.cursor)) await untilAllReleased(tenant.holds)
  await data.store.transaction(
    async tx => {
      await fence(tx)
      if (next) await finishStep(tenant, tx, job, next.cursor, await applyTo(data, tx, job, next))
      else {
        const { cursor, ...done } = await undoTraces(data, tx, job, size)
        await finishStep(tenant, tx, job, cursor, { ...done, notFound: 0 })
      }
    },
    { queue: `bulk ${job.organization}` },
  )
}

/** Applies a job to the contacts of a step. A dry run only reads. */
async function applyTo(data: Data, tx: ClientSession, job: BulkJob, { ids, matching, wanted }: Slice) {
  const { contacts } = data.collections.of(job.organization)
  // Those that another writer has changed meanwhile may no longer match. Two stages: the ids bound what the filter reads.
  const pipeline = [{ $match: { _id: { $in: ids } } }, { $match: matching }]
  const found = ids.length > 0 ? await contacts.aggregate<Contact>(pipeline, { tx }) : []
  const counted = { matched: found.length, notFound: (wanted ?? found.length) - found.length }
  return { ...counted, ...(await apply(data, tx, job, found)) }
}

function apply(data: Data, tx: ClientSession, job: BulkJob, found: Contact[]): Promise<StepResult> {
  const change = changeOf(job)
  if (change) return (job.dryRun ? previewChange : changeContacts)(data, tx, job, change, found)
  return job.dryRun ? previewDeletion(found) : deleteFound(data, tx, job, found)
}

type Done = StepResult & Pick<BulkResultJson, 'matched' | 'notFound'>

/** Stores what a step did and the cursor after it. @throws {JobMoved} if the job was cancelled meanwhile */
async function finishStep(
  { bulkJobs }: Tenant,
  tx: ClientSession,
  job: BulkJob,
  cursor: number,
  { matched, notFound, changed, failed, errors, sample }: Done,
): Promise<void> {
  const { _id, cursor: before, first, values, result } = job
  const isDone = isAtEnd(job, cursor) && (cursor === before || !endsMail(job))
  const share = values.length > 0 ? cursor / values.length : (first - cursor) / Math.max(first, 1)
  const sum: BulkResultJson = {
    ...result,
    matched: result.matched + matched,
    changed: result.changed + changed,
    unchanged: result.unchanged + matched - changed - failed,
    failed: result.failed + failed,
    notFound: result.notFound + notFound,
    sample: [...result.sample, ...sample].slice(0, MAX_SAMPLE),
    errors: [...result.errors, ...errors].slice(0, MAX_ERRORS),
  }
  const progress = isDone ? 100 : Math.min(99, Math.floor(share * 100))
  const end = isDone ? { state: 'completed', finishedAt: new Date() } : { state: 'active' }
  const update = { $set: { cursor, result: sum, progress, failures: 0, ...end } }
  const { matchedCount } = await bulkJobs.updateOne({ _id, cursor: before, state: { $in: unfinished } }, update, { tx })
  if (matchedCount === 0) throw new JobMoved()
  if (isDone) await addEvents(tx, [completedEvent(job, sum)])
}

function isAtEnd({ values }: BulkJob, cursor: number): boolean {
  return values.length > 0 ? cursor >= values.length : cursor <= 0
}

/** Whether contacts may get less mail after a job. An undo can block again. */
function endsMail(job: BulkJob): boolean {
  if (job.dryRun) return false
  const { blocked, unsubscribed } = changeOf(job) ?? {}
  return job.kind === 'delete' || job.kind === 'undo' || blocked === true || unsubscribed === true
}

/** Returns the contacts of the next step. */
async function nextContacts(tenant: Tenant, job: BulkJob, size: number): Promise<Slice> {
  const { contacts, attributes } = tenant
  if (job.filter === null) {
    const values = job.values.slice(job.cursor, job.cursor + size)
    const given = { [job.field]: { $in: values } }
    const found = await contacts.find(given, { projection: { _id: 1 }, batchSize: size + 1 })
    const matching = job.field === '_id' ? {} : given
    return { ids: found.map(({ _id }) => _id), matching, cursor: job.cursor + values.length, wanted: values.length }
  }
  const chosen = parseFilter(job.filter, contactFields(await readDefinitions(attributes)), job.at)
  const matching: Filter =
    job.kind === 'remove_from_list'
      ? { $and: [chosen, { lists: objectId(changeOf(job)!.removeFromLists![0]) }] }
      : chosen
  let { cursor } = job
  for (let spans = 0; cursor > 0 && spans < MAX_SPANS; spans++) {
    const position = { $gt: cursor - size, $lte: cursor }
    cursor = Math.max(0, cursor - size)
    // Two stages: the range bounds what the filter reads.
    const pipeline = [{ $match: { position } }, { $match: matching }, { $project: { _id: 1 } }]
    const found = await runnable(contacts.aggregate<Pick<Contact, '_id'>>(pipeline, { maxTimeMs: SPAN_MS }))
    if (found.length > 0) return { ids: found.map(({ _id }) => _id), matching, cursor }
  }
  return { ids: [], matching, cursor }
}
