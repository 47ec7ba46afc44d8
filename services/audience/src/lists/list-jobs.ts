import { randomUUID } from 'node:crypto'
import { AppError, type ErrorCode } from '@rollcall/rpc'
import { pause, retry } from '@rollcall/runtime'
import { createLease, type Draft, type Filter, isDuplicate, parseFilter, scoped } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import { contactFields } from '../contacts/contact.model.ts'
import type { Collections, Data } from '../data.ts'
import { jobKey, type ListJob } from './list-job.model.ts'
import { addMembers, candidateFields, endMemberships, removeMembers } from './members.ts'
import { memberPositions } from './membership.model.ts'

/** Works on the members of lists in steps, however many there are. */
export type ListJobs = {
  /**
   * Begins what is wanted, or joins in where that is under way or was finished while nobody waited, and answers the job
   * once it is done. Goes on behind when nobody waits any more, and in another process when this one ends.
   * @param signal fires when the caller stops waiting
   * @throws {AppError} what ended the job early; unavailable when the signal fires
   */
  run(organizationId: string, wish: ListWish, signal: AbortSignal): Promise<ListJob>
  /** Goes on with a job that was written down otherwise. */
  begin(job: Pick<ListJob, '_id' | 'organization'>): void
  /** Takes up what other processes leave, from now on. */
  watch(): Promise<void>
  /** Begins no further step, and waits for those under way. */
  stop(): Promise<void>
}

/** What somebody wants of a list's members. */
export type ListWish = Pick<ListJob, 'kind' | 'list' | 'filter' | 'actor'> & { cursor: number }

/** Positions of contacts that are looked through at once, and contacts that one transaction moves at most. */
const SPAN = 1024
/** Spans without a match that a step goes through before it notes how far it came. */
const MAX_SPANS = 64
const DROP_SIZE = 1000
const LEASE_MS = 5000
const POLL_MS = 200
const WATCH_MS = 2000
const LONGEST_WAIT_MS = 10_000

/** Creates what works on lists in this process. Of several processes one at a time works on a job. */
export function createListJobs(data: Data): ListJobs {
  const { store, models, logger } = data
  const holder = randomUUID()
  const stopping = new AbortController()
  const { signal } = stopping
  const running = new Map<string, Promise<void>>()
  let watching: Promise<void> = Promise.resolve()

  /** Works on a job, or waits for the process that does; answers when it is done. */
  const settle = async ({ _id, organization }: Pick<ListJob, '_id' | 'organization'>): Promise<void> => {
    const jobs = scoped(models.listJobs, organization)
    const lease = createLease(store, `list job ${_id}`, holder, LEASE_MS)
    while (!signal.aborted) {
      const job = await jobs.findOne({ _id })
      if (!job || job.done) break
      if (await lease.hold()) await step(data, job)
      else await pause(POLL_MS, signal)
    }
    await lease.release()
  }

  const begin = (job: Pick<ListJob, '_id' | 'organization'>): Promise<void> => {
    const id = String(job._id)
    const onRetry = (err: unknown) => logger.warn({ err, job: id }, 'a step of a list job failed, trying again')
    const started =
      running.get(id) ??
      retry(() => settle(job), { signal, maxMs: LONGEST_WAIT_MS, onRetry })
        .catch(err => logger.error({ err, job: id }, 'list job failed'))
        .finally(() => running.delete(id))
    running.set(id, started)
    return started
  }

  return {
    begin: job => void begin(job),

    async run(organizationId, wish, waiting) {
      const { listJobs } = data.of({ organizationId })
      const job = await findOrMake(listJobs, wish)
      const gaveUp = Promise.withResolvers<void>()
      waiting.addEventListener('abort', () => gaveUp.resolve(), { once: true })
      await Promise.race([begin(job), gaveUp.promise])
      const ended = waiting.aborted ? null : await listJobs.findOne({ _id: job._id })
      if (!ended?.done) throw new AppError('unavailable', {})
      await listJobs.deleteOne({ _id: job._id })
      if (ended.refusal) throw new AppError(ended.refusal.code as ErrorCode, ended.refusal.details)
      return ended
    },

    async watch() {
      const look = async () => {
        const unfinished = await models.listJobs.find({ done: false }).lean<ListJob[]>()
        for (const job of unfinished) void begin(job)
      }
      await look()
      watching = (async () => {
        while (!signal.aborted) {
          await pause(WATCH_MS, signal)
          if (!signal.aborted) await look().catch(err => logger.warn({ err }, 'list jobs could not be looked for'))
        }
      })()
    },

    async stop() {
      stopping.abort()
      await Promise.all([watching, ...running.values()])
    },
  }
}

async function findOrMake(listJobs: Collections['listJobs'], wish: ListWish): Promise<ListJob> {
  const draft: Draft<ListJob> = { ...wish, key: jobKey(wish) }
  const found = () => listJobs.findOne({ key: draft.key })
  const make = async () => {
    try {
      return await listJobs.insertOne(draft)
    } catch (error) {
      if (isDuplicate(error)) return found()
      throw error
    }
  }
  const job = (await found()) ?? (await make()) ?? (await make()) // the one in the way may just have been collected
  if (!job) throw new AppError('unavailable', {})
  return job
}

/** One step: what it changes and how far it came are one transaction, so that no two processes ever do the same one. */
async function step(data: Data, job: ListJob): Promise<void> {
  const collections = data.of({ organizationId: String(job.organization) })
  try {
    if (job.kind === 'drop') await drop(data, collections, job)
    else await move(data, collections, job)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error
    const refusal = { code: error.code, details: error.details }
    await collections.listJobs.updateOne({ _id: job._id }, { $set: { done: true, refusal } })
  }
}

async function move(data: Data, collections: Collections, job: ListJob): Promise<void> {
  const { contacts, lists } = collections
  const { ids, cursor } = await nextMatches(collections, job)
  await data.store.transaction(async session => {
    const list = await lists.findOne({ _id: job.list._id }, { session })
    if (!list) throw new AppError('not_found', { what: 'list' })
    if (list.archived && job.kind === 'add') throw new AppError('conflict', { message: 'the list is archived' })
    const candidates = await contacts.find({ _id: { $in: ids } }, { session, projection: candidateFields })
    const change = { list, actor: job.actor, at: new Date() }
    const moved =
      job.kind === 'add'
        ? (await addMembers(data, session, candidates, { ...change, source: 'api' })).length
        : await removeMembers(data, session, candidates, change)
    await advance(collections, session, job, { cursor, moved, passedOver: candidates.length - moved })
  })
}

async function drop(data: Data, collections: Collections, job: ListJob): Promise<void> {
  const { memberships } = collections
  await data.store.transaction(async session => {
    const ended = await memberships.find({ list: job.list._id }, { session, limit: DROP_SIZE })
    await endMemberships(data, session, ended, { list: job.list, actor: job.actor, at: new Date() })
    await advance(collections, session, job, { cursor: job.cursor + 1, moved: ended.length, passedOver: 0 }, false)
    if (ended.length === DROP_SIZE) return
    await memberPositions(data, job.organization, job.list._id).drop(session)
    await collections.listJobs.deleteOne({ _id: job._id }, { session }) // nobody asks what it came to
  })
}

async function advance(
  { listJobs }: Collections,
  session: ClientSession,
  { _id, cursor: expected }: ListJob,
  { cursor, ...counts }: Pick<ListJob, 'cursor' | 'moved' | 'passedOver'>,
  done = cursor <= 0,
): Promise<void> {
  const update = { $set: { cursor, done }, $inc: counts }
  const { matchedCount } = await listJobs.updateOne({ _id, cursor: expected, done: false }, update, { session })
  if (matchedCount === 0) throw new AppError('unavailable', {}, { cause: new Error('another process took the step') })
}

/** The next contacts that the filter matches, newest first, and where to go on after them. */
async function nextMatches({ contacts, attributes }: Collections, job: ListJob) {
  const filter: Filter = {
    ...parseFilter(job.filter, contactFields(await readDefinitions(attributes))),
    ...(job.kind === 'remove' && { lists: job.list._id }),
  }
  let { cursor } = job
  for (let spans = 0; cursor > 0 && spans < MAX_SPANS; spans++) {
    const position = { $gt: cursor - SPAN, $lte: cursor }
    cursor -= SPAN
    const found = await contacts.aggregate<{ _id: Types.ObjectId }>([
      { $match: { position } },
      { $match: filter }, // apart: the range bounds what the filter is tried on
      { $project: { _id: 1 } },
    ])
    if (found.length > 0) return { ids: found.map(({ _id }) => _id), cursor }
  }
  return { ids: [], cursor }
}
