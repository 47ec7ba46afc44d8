import { AppError, reviveError } from '@rollcall/contract'
import { defineJob, type Job, type LeaseJob, type LeaseSlice } from '@rollcall/jobs'
import { type Draft, type Filter, isDuplicate, isOutOfTime, LeaseLost, parseFilter, runnable } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Tenant } from '../collections.ts'
import { type Contact, contactFields, contactPositions } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { listQueue } from './list-counts.ts'
import { jobKey, type ListJob } from './list-job.model.ts'
import { addMembers, candidateFields, endMemberships, isMember, removeMembers } from './members.ts'
import { memberPositions } from './membership.model.ts'

/**
 * Adds what a filter matches to a list, or removes it, and drops the members of a deleted list. Each is a record
 * (`ListJob`) that one replica at a time works on; a caller waits for its result, and the work continues if the caller
 * stops waiting:
 *
 * 1. Start a pass over the contacts, from the newest position down. A job that is requested again starts another pass
 * at the end of this one, because contacts may have changed behind it.
 * 2. Find the next contacts to move: at most one span of positions that has any.
 * 3. Move them, publish the events and store the position reached, in one transaction under the lease.
 * 4. Repeat until the pass ends. What cannot succeed, or fails too often in a row, ends the job with an error.
 *
 * A drop ends the memberships of its list, batch by batch, and deletes its record with the last one.
 */
export type ListMembersJob = Job & {
  /**
   * Runs a job and resolves when every contact that matched at the request is processed. Where the same was requested
   * before and nobody got the result, the result includes that. Continues in the background if the caller stops
   * waiting; another process resumes it after a crash.
   * @param signal fires when the caller stops waiting
   * @throws {AppError} the error that ended the job early; service.unavailable when the signal aborts
   */
  run(organizationId: string, request: ListJobRequest, signal: AbortSignal): Promise<ListJob>
  /** Starts a job that another transaction stored. */
  wake: LeaseJob<ListJob>['wake']
}

/** A request to change a list's members. */
export type ListJobRequest = Pick<ListJob, 'kind' | 'list' | 'filter' | 'actor'> & { cursor: number }

/** Positions that one query covers, and the most contacts that one transaction moves. */
const SPAN = 1024
/** Spans without contacts to move, after which a step stores its position. */
const MAX_SPANS = 64
const DROP_SIZE = 1000
/** Timeout of the query of a span, shorter than the lease. */
const SPAN_MS = 4000
/** After this many failed steps in a row, about two minutes, the job ends with an error. */
const MAX_FAILURES = 15
/** Maximum of unfinished jobs by filter per organization. */
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
    async run(organizationId, request, signal) {
      const { listJobs } = data.collections.of(organizationId)
      let requested = await requestJob(listJobs, request)
      while (await job.complete(requested, signal)) {
        const current = await listJobs.findOne({ _id: requested._id })
        if (current?.done) return takeResult(listJobs, current)
        requested = current ?? (await requestJob(listJobs, request)) // another caller got its result, and it is deleted
      }
      throw new AppError('service.unavailable', {})
    },
  }
}

/** Stores a job. An existing one starts another pass, because contacts may have changed behind the last one. */
async function requestJob(listJobs: Tenant['listJobs'], request: ListJobRequest): Promise<ListJob> {
  const draft: Draft<ListJob> = { ...request, key: jobKey(request) }
  const requestAgain = async () => {
    const { key } = draft
    const again = { done: false, refusal: null, failures: 0 }
    // One that is done starts over, with its dates relative to this request.
    const { matchedCount } = await listJobs.updateOne(
      { key, done: true },
      { $inc: { asked: 1 }, $set: { ...again, at: new Date() } },
    )
    if (matchedCount === 0) await listJobs.updateOne({ key }, { $inc: { asked: 1 }, $set: again })
    return listJobs.findOne({ key })
  }
  const create = async () => {
    if ((await listJobs.count({ done: false, kind: { $ne: 'drop' } })) >= MAX_UNFINISHED)
      throw new AppError('quota.too_many_pending', {
        limit: MAX_UNFINISHED,
        what: 'unfinished jobs on list members per organization',
        retryAfterSeconds: 10,
      })
    try {
      return await listJobs.insertOne(draft)
    } catch (error) {
      if (isDuplicate(error)) return requestAgain()
      throw error
    }
  }
  // A second attempt to create: the duplicate may just have been deleted.
  const job = (await requestAgain()) ?? (await create()) ?? (await create())
  if (!job) throw new AppError('service.unavailable', {})
  return job
}

/** Returns the result of a job, and deletes the job unless it was requested again. */
async function takeResult(listJobs: Tenant['listJobs'], job: ListJob): Promise<ListJob> {
  await listJobs.deleteOne({ _id: job._id, asked: job.asked })
  if (job.refusal) throw reviveError(job.refusal)
  return job
}

/** Runs one step: its changes and the position reached are one transaction. */
async function step(data: Data, job: ListJob, slice: LeaseSlice, maxFailures: number): Promise<void> {
  const collections = data.collections.of(job.organization)
  try {
    if (job.kind === 'drop') await drop(data, collections, job, slice)
    else if (job.cursor <= 0 && job.answers !== job.asked) await startPass(data, collections, job)
    else await move(data, collections, job, slice)
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    const refusal = isLasting(error, job, maxFailures) ? refusalOf(error) : undefined
    // A job that was requested again meanwhile starts another pass, which may succeed.
    await collections.listJobs.updateOne(
      { _id: job._id, asked: job.asked },
      refusal ? { $set: { done: true, cursor: 0, refusal } } : { $inc: { failures: 1 } },
    )
    if (!refusal) throw error
  }
}

/** Whether retrying is useless: the step was refused, or failed too often. A drop is retried until it succeeds. */
function isLasting(error: unknown, { kind, failures }: ListJob, maxFailures: number): boolean {
  if (error instanceof AppError && error.code !== 'service.unavailable') return true
  return kind !== 'drop' && failures + 1 >= maxFailures
}

/** Returns the error for the caller. A filter that is too slow is the caller's to change. */
function refusalOf(error: unknown): ListJob['refusal'] {
  if (isOutOfTime(error))
    return { code: 'request.invalid_field', details: { path: 'filter', reason: 'takes too long' } }
  if (!(error instanceof AppError)) return { code: 'service.unavailable', details: {} }
  const { code, details } = error as AppError
  return { code, details }
}

/** Starts another pass, for requests that came after the start of the last one. */
async function startPass(data: Data, { listJobs }: Tenant, { _id, organization, ...job }: ListJob) {
  const { last: cursor } = await contactPositions(data, organization).read()
  await listJobs.updateOne(
    { _id, asked: job.asked, answers: job.answers },
    { $set: { cursor, answers: job.asked, met: 0 } },
  )
}

async function move(data: Data, collections: Tenant, job: ListJob, { fence }: LeaseSlice): Promise<void> {
  const { contacts, lists } = collections
  const { ids, passed, cursor } = await nextMatches(collections, job)
  const step = async (tx: ClientSession) => {
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
  }
  await data.store.transaction(step, { queue: listQueue(job.list._id) })
}

async function drop(data: Data, collections: Tenant, job: ListJob, { fence }: LeaseSlice): Promise<void> {
  const { memberships } = collections
  const step = async (tx: ClientSession) => {
    await fence(tx)
    const ended = await memberships.find({ list: job.list._id }, { tx, limit: DROP_SIZE })
    await endMemberships(data, tx, ended, { list: job.list, actor: job.actor, at: new Date() })
    await advance(collections, tx, job, { cursor: job.cursor + 1, moved: ended.length, met: 0 }, false)
    if (ended.length === DROP_SIZE) return
    await memberPositions(data, job.organization, job.list._id).drop(tx)
    await collections.growth.deleteMany({ list: job.list._id }, { tx })
    await collections.listJobs.deleteOne({ _id: job._id }, { tx }) // nobody requests its result
  }
  await data.store.transaction(step, { queue: listQueue(job.list._id) })
}

async function advance(
  { listJobs }: Tenant,
  tx: ClientSession,
  { _id, asked: requestedRevision, answers: processedRevision }: ListJob,
  { cursor, ...counts }: Pick<ListJob, 'cursor' | 'moved' | 'met'>,
  done = cursor <= 0 && processedRevision === requestedRevision,
): Promise<void> {
  const update = { $set: { cursor, done, failures: 0 }, $inc: counts }
  const unchanged = { _id, done: false, ...(done && { asked: requestedRevision }) }
  const { matchedCount } = await listJobs.updateOne(unchanged, update, { tx })
  if (matchedCount === 0)
    throw new AppError('service.unavailable', {}, { cause: new Error('the job has changed meanwhile') })
}

/** Returns the next contacts to move, newest first, how many others the filter matched, and the position reached. */
async function nextMatches({ contacts, attributes }: Tenant, { kind, list, ...job }: ListJob) {
  const filter: Filter = {
    ...parseFilter(job.filter, contactFields(await readDefinitions(attributes)), job.at),
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
        { $match: filter }, // separate: the range bounds what the filter reads
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
