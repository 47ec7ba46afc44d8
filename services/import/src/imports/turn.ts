import type { CallContext } from '@rollcall/rpc'
import type { Collections, Context } from '../context.ts'
import type { Import } from './import.model.ts'

/** A turn of work on a job, and all it takes. */
export type Turn = {
  context: Context
  collections: Collections
  /** The record as this turn has written it last. */
  job: Import
  call: CallContext
  /** When the time that is not yet in `workedMs` began. */
  since: number
  /** When the turn is given away, should anybody wait for one. */
  until: number
}

/** Jobs that have something to do. */
export const unfinished: Import['state'][] = ['waiting', 'active']

/** Batches that are under way at a time: so many may have been sent off after the last checkpoint. */
export const batchesInFlight = 2

/** Someone else works on the job now, or it was cancelled: nothing that this turn has in hand counts any more. */
export class FenceLost extends Error {
  override name = 'FenceLost'
}

/** The job can never be completed; the message is for whoever started it. */
export class Hopeless extends Error {
  override name = 'Hopeless'
}

/** Begins a turn of a job that was taken over. */
export function beginTurn(context: Context, collections: Collections, job: Import, call: CallContext): Turn {
  const now = performance.now()
  return { context, collections, job, call, since: now, until: now + context.turnMs }
}

/** Notes how far the job has come, with the time it took, as long as it is ours. @throws {FenceLost} */
export async function noteProgress(turn: Turn, changes: Partial<Import>): Promise<void> {
  const { collections, job } = turn
  const now = performance.now()
  const progress = { ...changes, setbacks: 0, workedMs: job.workedMs + Math.round(now - turn.since) }
  const { matchedCount } = await collections.imports.updateOne(ours(job), { $set: progress })
  if (matchedCount === 0) throw new FenceLost()
  Object.assign(job, progress)
  turn.since = now
}

/** What finds the job's record as long as nobody has taken the job over or cancelled it. */
export function ours({ _id, fence }: Import): Pick<Import, '_id' | 'fence' | 'state'> {
  return { _id, fence, state: 'active' }
}

/** Whether the turn's time is over and another organization waits for it; otherwise it goes on. */
export async function isOver(turn: Turn): Promise<boolean> {
  if (performance.now() < turn.until) return false
  const { context, job } = turn
  turn.until += context.turnMs
  const { organization } = job
  const other = await context.models.imports.exists({ state: { $in: unfinished }, organization: { $ne: organization } })
  return other !== null
}
