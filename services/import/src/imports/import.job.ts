import { CsvError } from '@rollcall/csv'
import { defineJob, type Job, type Outcome, type QueueOptions, type Waiting } from '@rollcall/jobs'
import { type CallContext, serviceCaller } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { dropFile } from '../uploads/spool.ts'
import { abortImport } from './abort-import.ts'
import { applyBatches } from './apply-batches.ts'
import { CANCELLED_REASON, type Import, unfinished } from './import.model.ts'
import { completionEvents } from './import-events.ts'
import { FenceLost, fenced, type Slice, startSlice, UnrecoverableError } from './slice.ts'
import { undoBatches } from './undo-batches.ts'

/**
 * Imports files, tries them out (dry run) and undoes imports. The record in the database is authoritative: it holds all
 * that a worker needs to resume. Each pass streams the file, so memory does not grow with it.
 *
 * 1. Find duplicate emails (`duplicates.ts`): reads the file and marks the rows whose email occurs more than once.
 * 2. Validate the duplicates (`duplicates.ts`): a dry run in the audience rejects those that cannot be applied. Of the
 * rest, the last or the first row of an email is kept, by the duplicate strategy, and the others are superseded. Only
 * these rows are validated in advance; all others are validated when they are applied.
 * 3. Apply in batches (`apply-batches.ts`): maps about 1,000 rows at a time and sends them to the audience, two batches
 * in flight. A checkpoint (byte offset, row, batch number, counts) follows each batch, in order. A batch that is sent
 * again after a crash has the same number, so the audience applies it once.
 * 4. Complete: ends the record and publishes the event in one transaction, then deletes the file.
 *
 * A dry run takes the same passes, and the audience writes nothing. An undo (`undo-batches.ts`) reverts the batches of
 * an import, from the last to the first. A cancelled job, and one that can never be completed, is aborted
 * (`abort-import.ts`): batches in flight that have not arrived are cancelled.
 *
 * The queue hands out organizations, not jobs: many imports of one do not delay the others. A slice works on the oldest
 * unfinished job of its organization, and ends after a checkpoint once its time is over and another organization waits.
 * Each slice acquires the job with a new fencing token, and a write with an older one fails: of two workers that
 * believe they have the job, only the later one makes progress.
 */
export const IMPORTS = 'imports'

/** A job that failed continues this soon after the audience is back, however often it failed before. */
const LONGEST_WAIT_MS = 3_000

/** The job for a service; `queue` is where `context.queue` requests slices. */
export function importJob(context: Context, queue: QueueOptions, concurrency: number): Job {
  return defineJob({
    name: IMPORTS,
    queue,
    concurrency,
    backoff: { baseMs: 1000, maxMs: LONGEST_WAIT_MS },
    unfinished: () => waitingOrganizations(context),
    run: (id, { signal }) => runSlice(context, id, signal),
  })
}

/** Returns an organization's id in the queue. */
export function queueIdOf(organizationId: string): string {
  return `org-${organizationId}`
}

/** The organizations that have an import to work on, and when any of their imports last made progress. */
async function waitingOrganizations({ collections }: Context): Promise<Waiting[]> {
  const groups = await collections.unscoped.imports.aggregate<{ _id: unknown; since: Date }>([
    { $match: { state: { $in: unfinished } } },
    { $group: { _id: '$organization', since: { $max: '$updatedAt' } } },
  ])
  return groups.map(({ _id, since }) => ({ id: queueIdOf(String(_id)), since }))
}

/** After this many failures in a row, the next job of the organization runs first. */
const FAILURES_BEFORE_NEXT = 5
/** The next job is one of this many oldest unfinished jobs. */
const JOBS_CONSIDERED = 100
const PROBE_TIMEOUT_MS = 2_000

/** Runs one slice of an organization. @returns done where it has no job left */
export async function runSlice(context: Context, queueId: string, signal: AbortSignal): Promise<Outcome> {
  const organizationId = queueId.slice('org-'.length)
  const collections = context.collections.of(organizationId)
  const call = { caller: serviceCaller('import', organizationId), signal }
  const next = await nextJob(collections)
  if (!next) return 'done'
  try {
    if (next.cancelled) await abortCancelled(context, collections, next, call)
    else await work(startSlice(context, collections, await acquire(collections, next), call))
  } catch (error) {
    if (error instanceof FenceLost) return 'again'
    if (!signal.aborted) await countFailure(context, collections, next, call)
    throw error
  }
  return 'again'
}

async function work(slice: Slice): Promise<void> {
  const { context, collections, job, call } = slice
  try {
    const finished = job.kind === 'undo' ? await undoBatches(slice) : await applyBatches(slice)
    if (finished) await complete(slice)
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof UnrecoverableError)) throw error
    await abortImport(context, collections, job, error.message, call)
  }
}

async function abortCancelled(context: Context, collections: Tenant, { _id }: NextJob, call: CallContext) {
  const job = await collections.imports.findOne({ _id })
  if (job) await abortImport(context, collections, job, CANCELLED_REASON, call)
}

type NextJob = Pick<Import, '_id' | 'startedAt' | 'failures' | 'cancelled'>

/** Returns the oldest job, unless it keeps failing: then the others go first. */
async function nextJob({ imports }: Tenant): Promise<NextJob | undefined> {
  const projection = { startedAt: 1, failures: 1, cancelled: 1 } as const
  const jobs: NextJob[] = await imports.find(
    { state: { $in: unfinished } },
    { sort: { _id: 1 }, limit: JOBS_CONSIDERED, projection },
  )
  const rank = ({ failures }: NextJob) => Math.floor(failures / FAILURES_BEFORE_NEXT)
  const [next] = jobs.toSorted((a, b) => rank(a) - rank(b))
  return next
}

/** Counts a failed slice, unless the audience is down: then the job keeps its place. */
async function countFailure(
  { attributes }: Context,
  { imports }: Tenant,
  { _id }: NextJob,
  call: CallContext,
): Promise<void> {
  try {
    await attributes.describeAttributes({}, { ...call, deadline: Date.now() + PROBE_TIMEOUT_MS })
    await imports.updateOne({ _id }, { $inc: { failures: 1 } })
  } catch {
    return
  }
}

/** Acquires a job with a new fencing token. @throws {FenceLost} where it has ended or was cancelled */
async function acquire({ imports }: Tenant, { _id, startedAt }: NextJob): Promise<Import> {
  const acquired = await imports.findOneAndUpdate(
    { _id, state: { $in: unfinished }, cancelled: { $ne: true } },
    { $set: { state: 'active', startedAt: startedAt ?? new Date() }, $inc: { fence: 1 } },
  )
  if (!acquired) throw new FenceLost()
  return acquired
}

/** Ends a job and publishes its event in one transaction, then deletes the file of an import. */
async function complete({ context, collections, job }: Slice): Promise<void> {
  const { imports } = collections
  await context.store.transaction(async tx => {
    const changes = { state: 'completed', finishedAt: new Date(), rowStatuses: null }
    const { matchedCount } = await imports.updateOne(fenced(job), { $set: changes }, { tx })
    if (matchedCount === 0) throw new FenceLost()
    await addEvents(tx, completionEvents(job))
  })
  await dropFile(collections, job)
}
