import { CsvError } from '@rollcall/csv'
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

/** The queue knows organizations, not jobs: each gets its turn, so that many imports of one never hold up the others. */
export function queueIdOf(organizationId: string): string {
  return `org-${organizationId}`
}

/** The queue's ids of the organizations that have an import to work on. */
export async function organizationsWithImports({ models }: Context): Promise<string[]> {
  const ids = await models.imports.distinct('organization', { state: { $in: unfinished } }).exec()
  return ids.map(id => queueIdOf(String(id)))
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
export async function runTurn(context: Context, queueId: string, signal: AbortSignal): Promise<'done' | 'again'> {
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
