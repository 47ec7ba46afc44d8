import { CsvError } from '@rollcall/csv'
import { defineJob, type Job, type Outcome, type QueueOptions, type Waiting } from '@rollcall/jobs'
import { type CallContext, serviceCaller } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Collections, Context } from '../context.ts'
import { dropFile } from '../uploads/spool.ts'
import { applyBatches } from './apply-batches.ts'
import { breakOff } from './break-off.ts'
import { cancelledReason, type Import } from './import.model.ts'
import { completionEvents } from './import-events.ts'
import { beginTurn, FenceLost, Hopeless, ours, type Turn, unfinished } from './turn.ts'
import { undoBatches } from './undo-batches.ts'

/**
 * Imports files, tries them out (dry run) and undoes imports. The queue hands out organizations, one slice at a time, so
 * that many imports of one do not delay the others; a slice works on the oldest unfinished job of its organization:
 *
 * 1. Take over: increment the record's fence. Every later write requires it, so a former worker changes nothing.
 * 2. Pass 1, find duplicate emails in the file (`survey.ts`).
 * 3. Pass 2, validate the duplicates: the audience checks in a dry run which of them can be applied.
 * 4. Choose one row of each email, the last or the first that can be applied; the others are skipped.
 * 5. Pass 3, apply in batches, two in flight (`apply-batches.ts`). The audience stores each batch under its number, so one
 *    that is sent again is applied once.
 * 6. Checkpoint after each batch: position in the file, counters, failed rows. A slice ends at a checkpoint once its time
 *    is over and another organization waits; the next one, in whatever process, continues there.
 * 7. Complete: end the record and publish the event in one transaction, then delete the file.
 *
 * An undo reverts the batches from the last to the first, with a checkpoint after each. What cannot succeed ends as failed.
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
    run: (id, { signal }) => runTurn(context, id, signal),
  })
}

/** The id in the queue, an organization's: each gets its turn. */
export function queueIdOf(organizationId: string): string {
  return `org-${organizationId}`
}

/** The organizations that have an import to work on, and when any of their imports last made progress. */
async function waitingOrganizations({ models }: Context): Promise<Waiting[]> {
  const groups = await models.imports.aggregate<{ _id: unknown; since: Date }>([
    { $match: { state: { $in: unfinished } } },
    { $group: { _id: '$organization', since: { $max: '$updatedAt' } } },
  ])
  return groups.map(({ _id, since }) => ({ id: queueIdOf(String(_id)), since }))
}

/** After so many setbacks in a row a job lets the others of its organization go first. */
const patience = 5
/** The oldest unfinished jobs, among which the next one is chosen. */
const jobsConsidered = 100
/** So long the audience may take to show that it is there. */
const probeMs = 2_000

/**
 * One turn of an organization: works on its oldest unfinished job until that is done or the turn's time is over.
 * The record carries everything that a worker needs to go on; each step of it is fenced, so of two workers that believe
 * they have the job only the later one gets anywhere.
 * @returns done when the organization has no job left
 */
export async function runTurn(context: Context, queueId: string, signal: AbortSignal): Promise<Outcome> {
  const organizationId = queueId.slice('org-'.length)
  const collections = context.of({ organizationId })
  const call = { caller: serviceCaller('import', organizationId), signal }
  const next = await nextJob(collections)
  if (!next) return 'done'
  try {
    if (next.cancelled) await endCancelled(context, collections, next, call)
    else await work(beginTurn(context, collections, await takeOver(collections, next), call))
  } catch (error) {
    if (error instanceof FenceLost) return 'again'
    if (!signal.aborted) await noteSetback(context, collections, next, call)
    throw error
  }
  return 'again'
}

async function work(turn: Turn): Promise<void> {
  const { context, collections, job, call } = turn
  try {
    const finished = job.kind === 'undo' ? await undoBatches(turn) : await applyBatches(turn)
    if (finished) await complete(turn)
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof Hopeless)) throw error
    await breakOff(context, collections, job, error.message, call)
  }
}

async function endCancelled(context: Context, collections: Collections, { _id }: NextJob, call: CallContext) {
  const job = await collections.imports.findOne({ _id })
  if (job) await breakOff(context, collections, job, cancelledReason, call)
}

type NextJob = Pick<Import, '_id' | 'startedAt' | 'setbacks' | 'cancelled'>

/** The oldest, unless it fails time and again: whatever is wrong with it, the others are not held up. */
async function nextJob({ imports }: Collections): Promise<NextJob | undefined> {
  const projection = { startedAt: 1, setbacks: 1, cancelled: 1 } as const
  const jobs: NextJob[] = await imports.find(
    { state: { $in: unfinished } },
    { sort: { _id: 1 }, limit: jobsConsidered, projection },
  )
  const rank = ({ setbacks }: NextJob) => Math.floor(setbacks / patience)
  const [next] = jobs.toSorted((a, b) => rank(a) - rank(b))
  return next
}

/** Where the audience cannot be asked at all, the fault is not the job's, and it keeps its place. */
async function noteSetback(
  { attributes }: Context,
  { imports }: Collections,
  { _id }: NextJob,
  call: CallContext,
): Promise<void> {
  try {
    await attributes.describeAttributes({}, { ...call, deadline: Date.now() + probeMs })
    await imports.updateOne({ _id }, { $inc: { setbacks: 1 } })
  } catch {
    return
  }
}

async function takeOver({ imports }: Collections, { _id, startedAt }: NextJob): Promise<Import> {
  const taken = await imports.findOneAndUpdate(
    { _id, state: { $in: unfinished }, cancelled: { $ne: true } },
    { $set: { state: 'active', startedAt: startedAt ?? new Date() }, $inc: { fence: 1 } },
  )
  if (!taken) throw new FenceLost()
  return taken
}

/** The end of a job and the event that tells of it are one transaction; the file of an import is not needed any more. */
async function complete({ context, collections, job }: Turn): Promise<void> {
  const { imports } = collections
  await context.store.transaction(async session => {
    const changes = { state: 'completed', finishedAt: new Date(), fates: null }
    const { matchedCount } = await imports.updateOne(ours(job), { $set: changes }, { session })
    if (matchedCount === 0) throw new FenceLost()
    await addEvents(session, completionEvents(job))
  })
  await dropFile(collections, job)
}
