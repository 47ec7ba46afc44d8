import { AppError, reviveError } from '@rollcall/contract'
import { defineJob, type Job, type LeaseJob, type LeaseSlice } from '@rollcall/jobs'
import { type Draft, type Filter, isDuplicate, isOutOfTime, LeaseLost, parseFilter, runnable } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Tenant } from '../collections.ts'
import { type Contact, contactFields, contactPositions } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { jobKey, type ListJob } from './list-job.model.ts'
import { addMembers, candidateFields, endMemberships, isMember, removeMembers } from './members.ts'
import { memberPositions } from './membership.model.ts'

/**
 * Adds what a filter matches to a list, or removes it, and drops the members of a deleted list. Each is a record (`ListJob`)
 * that one replica at a time works on; a caller waits for its result, and the work continues if the caller stops waiting:
 *
 * 1. Start a pass over the contacts, from the newest position down. A job that is requested again starts another pass at
 *    the end of this one, because contacts may have changed behind it.
 * 2. Find the next contacts to move: at most one span of positions that has any.
 * 3. Move them, publish the events and store the position reached, in one transaction under the lease.
 * 4. Repeat until the pass ends. What cannot succeed, or fails too often in a row, ends the job with an error.
 *
 * A drop ends the memberships of its list, batch by batch, and deletes its record with the last one.
 */
export type ListMembersJob = Job & {
  /**
   * Runs a job and resolves when every contact that matched at the request is processed. Where the same was requested
   * before and nobody got the result, the result includes that. Continues in the background if the caller stops waiting;
   * another process resumes it after a crash.
   * @param signal fires when the caller stops waiting
   * @throws {AppError} what ended the job early; unavailable when the signal fires
   */
  run(organizationId: string, wish: ListWish, signal: AbortSignal): Promise<ListJob>
  /** Starts a job that another transaction stored. */
  wake: LeaseJob<ListJob>['wake']
}

/** What somebody wants of a list's members. */
export type ListWish = Pick<ListJob, 'kind' | 'list' | 'filter' | 'actor'> & { cursor: number }

/** Positions of contacts that are looked through at once, and contacts that one transaction moves at most. */
const SPAN = 1024
/** Spans with nobody to be moved that a step goes through before it notes how far it came. */
const MAX_SPANS = 64
const DROP_SIZE = 1000
/** A span is looked through while the lease holds, or not at all. */
const SPAN_MS = 4000
/** Steps in a row that may fail, the waits between them two minutes in all; then the job is refused. */
const MAX_FAILURES = 15
/** Jobs by filter that an organization may have unfinished. */
const MAX_UNFINISHED = 20
const BACKOFF = { baseMs: 50, maxMs: 10_000 }

/** Creates the job that works on the members of lists. */
export function listMembersJob(data: Data, { maxFailures = MAX_FAILURES } = {}): ListMembersJob {
  const { store, collections } = data
  const job = defineJob<ListJob>({
    name: 'list-members',
    lease: { store },
    backoff: BACKOFF,
    unfinished: () => collections.unscoped.listJobs.find({ done: false }).lean<ListJob[]>().exec(),
    load: ({ _id, organization }) => collections.of(organization).listJobs.findOne({ _id, done: false }),
    since: ({ updatedAt }) => updatedAt,
    async run(current, slice) {
      await step(data, current, slice, maxFailures)
      return 'again'
    },
  })
  return {
    ...job,
    async run(organizationId, wish, signal) {
      const { listJobs } = data.collections.of(organizationId)
      let wanted = await ask(listJobs, wish)
      while (await job.complete(wanted, signal)) {
        const asIs = await listJobs.findOne({ _id: wanted._id })
        if (asIs?.done) return tell(listJobs, asIs)
        wanted = asIs ?? (await ask(listJobs, wish)) // another caller got its result, and it is deleted
      }
      throw new AppError('service.unavailable', {})
    },
  }
}

/** Asks for what is wanted: of a job that is there another walk, since contacts may have changed behind the last one. */
async function ask(listJobs: Tenant['listJobs'], wish: ListWish): Promise<ListJob> {
  const draft: Draft<ListJob> = { ...wish, key: jobKey(wish) }
  const again = async () => {
    await listJobs.updateOne(
      { key: draft.key },
      { $inc: { asked: 1 }, $set: { done: false, refusal: null, failures: 0 } },
    )
    return listJobs.findOne({ key: draft.key })
  }
  const make = async () => {
    if ((await listJobs.count({ done: false, kind: { $ne: 'drop' } })) >= MAX_UNFINISHED)
      throw new AppError('quota.too_many_pending', {
        limit: MAX_UNFINISHED,
        what: 'unfinished jobs on list members per organization',
        retryAfterSeconds: 10,
      })
    try {
      return await listJobs.insertOne(draft)
    } catch (error) {
      if (isDuplicate(error)) return again()
      throw error
    }
  }
  const job = (await again()) ?? (await make()) ?? (await make()) // the one in the way may just have been told
  if (!job) throw new AppError('service.unavailable', {})
  return job
}

/** Tells what a job came to, and forgets it unless it was asked for again. */
async function tell(listJobs: Tenant['listJobs'], job: ListJob): Promise<ListJob> {
  await listJobs.deleteOne({ _id: job._id, asked: job.asked })
  if (job.refusal) throw reviveError(job.refusal)
  return job
}

/** One step: what it changes and how far it came are one transaction. */
async function step(data: Data, job: ListJob, slice: LeaseSlice, maxFailures: number): Promise<void> {
  const collections = data.collections.of(job.organization)
  try {
    if (job.kind === 'drop') await drop(data, collections, job, slice)
    else if (job.cursor <= 0 && job.answers !== job.asked) await walkAgain(data, collections, job)
    else await move(data, collections, job, slice)
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    const refusal = isLasting(error, job, maxFailures) ? refusalOf(error) : undefined
    // What was asked for again meanwhile may not be refused any more.
    await collections.listJobs.updateOne(
      { _id: job._id, asked: job.asked },
      refusal ? { $set: { done: true, cursor: 0, refusal } } : { $inc: { failures: 1 } },
    )
    if (!refusal) throw error
  }
}

/** Whether to try a step again is of no use: it was refused, or it failed too often. Members of a deleted list have to go. */
function isLasting(error: unknown, { kind, failures }: ListJob, maxFailures: number): boolean {
  if (error instanceof AppError && error.code !== 'service.unavailable') return true
  return kind !== 'drop' && failures + 1 >= maxFailures
}

/** What whoever asked for the job is told; a filter that is too slow is theirs to change. */
function refusalOf(error: unknown): ListJob['refusal'] {
  if (isOutOfTime(error))
    return { code: 'request.invalid_field', details: { path: 'filter', reason: 'takes too long' } }
  if (!(error instanceof AppError)) return { code: 'service.unavailable', details: {} }
  const { code, details } = error as AppError
  return { code, details }
}

/** Begins another walk, for those who asked after the last one had begun. */
async function walkAgain(data: Data, { listJobs }: Tenant, { _id, organization, asked, answers }: ListJob) {
  const { last: cursor } = await contactPositions(data, organization).read()
  await listJobs.updateOne({ _id, asked, answers }, { $set: { cursor, answers: asked, met: 0 } })
}

async function move(data: Data, collections: Tenant, job: ListJob, { fence }: LeaseSlice): Promise<void> {
  const { contacts, lists } = collections
  const { ids, passed, cursor } = await nextMatches(collections, job)
  await data.store.transaction(async tx => {
    await fence(tx)
    const list = await lists.get(job.list._id, 'list', { tx })
    if (list.archived && job.kind === 'add') throw new AppError('list.archived', { path: 'id' })
    const candidates = await contacts.find({ _id: { $in: ids } }, { tx, projection: candidateFields })
    const change = { list, actor: job.actor, at: new Date() }
    const moved =
      job.kind === 'add'
        ? (await addMembers(data, tx, candidates, { ...change, source: 'api' })).length
        : await removeMembers(data, tx, candidates, change)
    await advance(collections, tx, job, { cursor, moved, met: passed + candidates.length })
  })
}

async function drop(data: Data, collections: Tenant, job: ListJob, { fence }: LeaseSlice): Promise<void> {
  const { memberships } = collections
  await data.store.transaction(async tx => {
    await fence(tx)
    const ended = await memberships.find({ list: job.list._id }, { tx, limit: DROP_SIZE })
    await endMemberships(data, tx, ended, { list: job.list, actor: job.actor, at: new Date() })
    await advance(collections, tx, job, { cursor: job.cursor + 1, moved: ended.length, met: 0 }, false)
    if (ended.length === DROP_SIZE) return
    await memberPositions(data, job.organization, job.list._id).drop(tx)
    await collections.listJobs.deleteOne({ _id: job._id }, { tx }) // nobody asks what it came to
  })
}

async function advance(
  { listJobs }: Tenant,
  tx: ClientSession,
  { _id, asked, answers }: ListJob,
  { cursor, ...counts }: Pick<ListJob, 'cursor' | 'moved' | 'met'>,
  done = cursor <= 0 && answers === asked,
): Promise<void> {
  const update = { $set: { cursor, done, failures: 0 }, $inc: counts }
  const asIs = { _id, done: false, ...(done && { asked }) }
  const { matchedCount } = await listJobs.updateOne(asIs, update, { tx })
  if (matchedCount === 0)
    throw new AppError('service.unavailable', {}, { cause: new Error('the job is another one by now') })
}

/** The next contacts to be moved, newest first, how many others the filter matches on the way, and where to go on. */
async function nextMatches({ contacts, attributes }: Tenant, { kind, list, ...job }: ListJob) {
  const filter: Filter = {
    ...parseFilter(job.filter, contactFields(await readDefinitions(attributes))),
    ...(kind === 'remove' && { lists: list._id }),
  }
  let { cursor } = job
  let passed = 0
  for (let spans = 0; cursor > 0 && spans < MAX_SPANS; spans++) {
    const position = { $gt: cursor - SPAN, $lte: cursor }
    cursor -= SPAN
    const matches = contacts.aggregate<Pick<Contact, '_id' | 'lists'>>(
      [
        { $match: { position } },
        { $match: filter }, // apart: the range bounds what the filter is tried on
        { $project: { lists: 1 } },
      ],
      { maxTimeMs: SPAN_MS },
    )
    const found = await runnable(matches)
    const moving = found.filter(contact => isMember(contact, list._id) === (kind === 'remove'))
    passed += found.length - moving.length
    if (moving.length > 0) return { ids: moving.map(({ _id }) => _id), passed, cursor }
  }
  return { ids: [], passed, cursor }
}
