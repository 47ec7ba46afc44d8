import { randomUUID } from 'node:crypto'
import { AppError, reviveError } from '@rollcall/contract'
import { pause, retry } from '@rollcall/runtime'
import {
  createLease,
  type Draft,
  type Filter,
  isDuplicate,
  isOutOfTime,
  parseFilter,
  runnable,
  scoped,
} from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import { type Contact, contactFields } from '../contacts/contact.model.ts'
import { contactPositions } from '../contacts/contact-positions.ts'
import type { Collections, Data } from '../data.ts'
import { jobKey, type ListJob } from './list-job.model.ts'
import { addMembers, candidateFields, endMemberships, isMember, removeMembers } from './members.ts'
import { memberPositions } from './membership.model.ts'

/** Works on the members of lists in steps, however many there are. */
export type ListJobs = {
  /**
   * Does what is wanted and answers the job once that is so for all contacts as they were when it was asked for. Where the
   * same was asked for before and nobody was told what came of it, the answer tells that too. Goes on behind when nobody
   * waits any more, and in another process when this one ends.
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
/** Spans with nobody to be moved that a step goes through before it notes how far it came. */
const MAX_SPANS = 64
const DROP_SIZE = 1000
/** A span is looked through while the lease holds, or not at all. */
const SPAN_MS = 4000
/** Steps in a row that may fail, the waits between them two minutes in all; then the job is refused. */
const MAX_FAILURES = 15
/** Jobs by filter that an organization may have unfinished. */
const MAX_UNFINISHED = 20
const LEASE_MS = 5000
const POLL_MS = 200
const WATCH_MS = 2000
const LONGEST_WAIT_MS = 10_000

/** Creates what works on lists in this process. Of several processes one at a time works on a job. */
export function createListJobs(data: Data, { maxFailures = MAX_FAILURES } = {}): ListJobs {
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
      if (await lease.acquire()) await step(data, job, maxFailures)
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
      const gaveUp = Promise.withResolvers<void>()
      waiting.addEventListener('abort', () => gaveUp.resolve(), { once: true })
      let job = await ask(listJobs, wish)
      for (;;) {
        await Promise.race([begin(job), gaveUp.promise])
        if (waiting.aborted) break
        const asIs = await listJobs.findOne({ _id: job._id })
        if (asIs?.done) return tell(listJobs, asIs)
        if (signal.aborted) break
        job = asIs ?? (await ask(listJobs, wish)) // somebody else was told, and it is gone
      }
      throw new AppError('service.unavailable', {})
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

/** Asks for what is wanted: of a job that is there another walk, since contacts may have changed behind the last one. */
async function ask(listJobs: Collections['listJobs'], wish: ListWish): Promise<ListJob> {
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
async function tell(listJobs: Collections['listJobs'], job: ListJob): Promise<ListJob> {
  await listJobs.deleteOne({ _id: job._id, asked: job.asked })
  if (job.refusal) throw reviveError(job.refusal)
  return job
}

/** One step: what it changes and how far it came are one transaction, so that no two processes ever do the same one. */
async function step(data: Data, job: ListJob, maxFailures: number): Promise<void> {
  const collections = data.of({ organizationId: String(job.organization) })
  try {
    if (job.kind === 'drop') await drop(data, collections, job)
    else if (job.cursor <= 0 && job.answers !== job.asked) await walkAgain(data, collections, job)
    else await move(data, collections, job)
  } catch (error) {
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
async function walkAgain(data: Data, { listJobs }: Collections, { _id, organization, asked, answers }: ListJob) {
  const { last: cursor } = await contactPositions(data, organization).read()
  await listJobs.updateOne({ _id, asked, answers }, { $set: { cursor, answers: asked, met: 0 } })
}

async function move(data: Data, collections: Collections, job: ListJob): Promise<void> {
  const { contacts, lists } = collections
  const { ids, passed, cursor } = await nextMatches(collections, job)
  await data.store.transaction(async session => {
    const list = await lists.get(job.list._id, 'list', { session })
    if (list.archived && job.kind === 'add') throw new AppError('list.archived', { path: 'id' })
    const candidates = await contacts.find({ _id: { $in: ids } }, { session, projection: candidateFields })
    const change = { list, actor: job.actor, at: new Date() }
    const moved =
      job.kind === 'add'
        ? (await addMembers(data, session, candidates, { ...change, source: 'api' })).length
        : await removeMembers(data, session, candidates, change)
    await advance(collections, session, job, { cursor, moved, met: passed + candidates.length })
  })
}

async function drop(data: Data, collections: Collections, job: ListJob): Promise<void> {
  const { memberships } = collections
  await data.store.transaction(async session => {
    const ended = await memberships.find({ list: job.list._id }, { session, limit: DROP_SIZE })
    await endMemberships(data, session, ended, { list: job.list, actor: job.actor, at: new Date() })
    await advance(collections, session, job, { cursor: job.cursor + 1, moved: ended.length, met: 0 }, false)
    if (ended.length === DROP_SIZE) return
    await memberPositions(data, job.organization, job.list._id).drop(session)
    await collections.listJobs.deleteOne({ _id: job._id }, { session }) // nobody asks what it came to
  })
}

async function advance(
  { listJobs }: Collections,
  session: ClientSession,
  { _id, cursor: expected, asked, answers }: ListJob,
  { cursor, ...counts }: Pick<ListJob, 'cursor' | 'moved' | 'met'>,
  done = cursor <= 0 && answers === asked,
): Promise<void> {
  const update = { $set: { cursor, done, failures: 0 }, $inc: counts }
  const asIs = { _id, cursor: expected, done: false, ...(done && { asked }) }
  const { matchedCount } = await listJobs.updateOne(asIs, update, { session })
  if (matchedCount === 0)
    throw new AppError('service.unavailable', {}, { cause: new Error('the job is another one by now') })
}

/** The next contacts to be moved, newest first, how many others the filter matches on the way, and where to go on. */
async function nextMatches({ contacts, attributes }: Collections, { kind, list, ...job }: ListJob) {
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
