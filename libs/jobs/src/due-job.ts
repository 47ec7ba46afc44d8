import { backoffMs, pause } from '@rollcall/runtime'
import type { Unscoped } from '@rollcall/store'
import { Types } from 'mongoose'
import { BACKOFF, type Backoff, type Job, type Outcome } from './job.ts'
import { createMeter, type Meter } from './meter.ts'

/**
 * A record that is a task. It needs an index on `dueAt`. Where many are kept after they are done, it needs one on
 * `organization`, `_id`, `attempts` and `dueAt` as well: some servers use no other for the filters of claims and fences.
 */
export type DueRecord = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** When to run it. Moved ahead while a replica runs it, so that it is due again if that replica dies. Null when done. */
  dueAt: Date | null
  /**
   * How often it was claimed. It is the fence: a write filtered by `{ _id, attempts }` changes nothing once another
   * replica has claimed the record.
   */
  attempts: number
}

/** A job over records that are due. */
export type DueJobOptions<T extends DueRecord> = {
  name: string
  /** `filter` limits the job to some records. It needs an index on its fields and `dueAt`. */
  due: { model: Unscoped<T>; filter?: object }
  /**
   * Runs one record. `done`: the run has set `dueAt` to null, in the write that stores its effect. `again` or a number:
   * the record is due again now, or after so many milliseconds. Rejecting: after the backoff of its attempts.
   */
  run(record: T, slice: { signal: AbortSignal }): Promise<Outcome>
  /** Records that this process runs concurrently. */
  concurrency: number
  /**
   * Of these, records of one organization: a slow one must not delay the others. None gets more than are still free, so that
   * several slow ones leave some to others.
   */
  concurrencyPerOrganization: number
  /**
   * Of these, records with one value of a field, an id: the limit of a value may change at any time. `held` returns values
   * that hold up their own records, which do not count as late.
   */
  concurrencyPer?: { field: keyof T & string; limitOf(value: string): number; held?(): readonly string[] }
  backoff?: Backoff
}

/** A running job over due records. */
export type DueJob = Job & {
  /** Searches for due records now: one was just stored. */
  wake(): void
}

/** How many records with one value of a field may run concurrently. */
type Limit = { field: string; limitOf(value: string): number }

/** A due record as it was found. `keys` are its values of the limited fields. */
type Candidate = DueRecord & { keys: string[] }

const POLL_MS = 1000
/** Interval of searches while no record becomes due. Those that this process stores wake the job. */
const IDLE_POLL_MS = 5000
const CLAIM_MS = 15_000
const HEARTBEAT_MS = 5000
const BACKLOG_EVERY_MS = 10_000
/** Counting stops here: the alert needs no more. */
const MAX_COUNTED = 10_000
/** Records that one search finds. */
const PAGE = 200
/** After a search, none follows for this many times its duration. */
const REST = 4

/**
 * Creates a job over records that are due; see `defineJob`.
 *
 * Records that a limit keeps back stay in memory, and begin as soon as another one ends. Searches leave out the values of
 * such records. Otherwise each search would read the whole backlog again.
 */
export function dueJob<T extends DueRecord>(options: DueJobOptions<T>): DueJob {
  const { name, concurrency, backoff = BACKOFF } = options
  const { filter: ours = {} } = options.due
  const perOrganization = () => Math.min(options.concurrencyPerOrganization, concurrency - running.size)
  const limits: Limit[] = [{ field: 'organization', limitOf: perOrganization }]
  if (options.concurrencyPer) limits.push(options.concurrencyPer)
  const fields = Object.fromEntries(['dueAt', 'attempts', ...limits.map(({ field }) => field)].map(each => [each, 1]))
  // The filters name fields of DueRecord alone, which mongoose cannot see in a type parameter.
  const model = options.due.model as unknown as Unscoped<DueRecord>
  const running = new Map<string, { keys: string[]; ended: Promise<void> }>()
  /** Due records that a limit keeps from starting. */
  let waiting: Candidate[] = []
  const stopping = new AbortController()
  let wakeUp = Promise.withResolvers<void>()
  let searchAt = 0
  let restsUntil = 0
  let ended: Promise<void> = Promise.resolve()

  const isFull = () => running.size >= concurrency

  /** Returns, for each limit, the values that no further record may have. */
  const busyValues = (): Set<string>[] =>
    limits.map(({ limitOf }, index) => {
      const counts = Map.groupBy(running.values(), ({ keys }) => keys[index]!)
      return new Set([...counts].filter(([value, { length }]) => length >= limitOf(value)).map(([value]) => value))
    })

  /** Begins the candidates that no limit keeps back. Returns the others. */
  const beginAll = async (candidates: readonly Candidate[], meter: Meter): Promise<Candidate[]> => {
    const kept: Candidate[] = []
    let busy = busyValues()
    for (const candidate of candidates) {
      if (isFull() || candidate.keys.some((key, index) => busy[index]!.has(key))) kept.push(candidate)
      else if (!stopping.signal.aborted) {
        const record = await claim(candidate)
        if (record) begin(record, candidate.keys, meter)
        busy = busyValues()
      }
    }
    return kept
  }

  const takeDue = async (meter: Meter): Promise<void> => {
    waiting = await beginAll(waiting, meter)
    if (isFull() || Date.now() < nextSearchAt()) return
    const soonest = Date.now() + POLL_MS
    searchAt = soonest
    const { due, next } = await search()
    const isAwake = searchAt !== soonest // something was stored meanwhile
    if (due.length === 0 && !isAwake) searchAt = Math.max(soonest, Math.min(next, Date.now() + IDLE_POLL_MS))
    waiting = await beginAll([...waiting, ...due], meter)
    if (due.length === PAGE) wake()
  }

  /** Finds due records, and when the next one is due. */
  const search = async (): Promise<{ due: Candidate[]; next: number }> => {
    const busy = busyValues()
    const supplied = limits.map(
      (_, index) => new Set(waiting.map(({ keys }) => keys[index]!).filter(key => busy[index]!.has(key))),
    )
    const filter = {
      ...ours,
      dueAt: { $gte: new Date(0) },
      ...except('_id', [...running.keys()]), // their claim may have expired: another replica has to take them
      ...Object.assign({}, ...limits.map(({ field }, index) => except(field, [...supplied[index]!]))),
    }
    const startedAt = performance.now()
    const found = await model.find(filter, fields).sort({ dueAt: 1 }).limit(PAGE).lean<DueRecord[]>()
    restsUntil = Date.now() + Math.min(POLL_MS, REST * (performance.now() - startedAt))
    const now = Date.now()
    const due = found.filter(({ dueAt }) => Number(dueAt) <= now)
    return {
      due: due.map(record => ({ ...record, keys: limits.map(({ field }) => keyIn(record, field)) })),
      next: Number(found[due.length]?.dueAt ?? Infinity),
    }
  }
  const nextSearchAt = () => Math.max(searchAt, restsUntil)

  /** Claims a record as it was found. Returns it as it is now, or null if another replica has claimed or moved it. */
  const claim = async ({ _id, organization, attempts, dueAt }: Candidate): Promise<T | null> => {
    const claimed = { dueAt: new Date(Date.now() + CLAIM_MS), attempts: attempts + 1 }
    const { matchedCount } = await model.updateOne({ organization, _id, attempts, dueAt }, { $set: claimed })
    const record = matchedCount === 1 && (await model.findOne({ organization, _id }).lean<T>())
    return record ? { ...record, ...claimed } : null // not the numbers of a replica that has claimed it since
  }

  /** Makes a record due at another time, unless it is done or another replica has claimed it. */
  const moveTo = (dueAt: Date, { _id, organization, attempts }: DueRecord) =>
    model.updateOne({ organization, _id, attempts, dueAt: { $gt: new Date(0) } }, { $set: { dueAt } })

  const runClaimed = async (record: T, meter: Meter): Promise<void> => {
    const { signal } = stopping
    const moveOn = (ms: number) => moveTo(new Date(Date.now() + ms), record)
    let renewal: Promise<unknown> = Promise.resolve()
    const heartbeat = setInterval(() => {
      renewal = moveOn(CLAIM_MS).catch(() => undefined) // if it keeps failing, the claim expires
    }, HEARTBEAT_MS)
    const outcome = await meter
      .run(() => options.run(record, { signal }), signal, { record: String(record._id), attempt: record.attempts })
      .catch(() => (signal.aborted ? 0 : backoffMs(record.attempts, backoff)))
      .finally(() => clearInterval(heartbeat))
    await renewal // one that arrives late would undo the delay
    if (outcome !== 'done') await moveOn(outcome === 'again' ? 0 : outcome)
  }

  const begin = (record: T, keys: string[], meter: Meter): void => {
    const id = String(record._id)
    const ended = runClaimed(record, meter)
      .catch(err => meter.logger.warn({ err, record: id }, 'record not rescheduled, it is due when its claim expires'))
      .finally(() => {
        running.delete(id)
        if (waiting.some(candidate => candidate.keys.at(-1) === keys.at(-1))) wakeUp.resolve()
        else wake()
      })
    running.set(id, { keys, ended })
  }

  const measureBacklog = async (meter: Meter): Promise<void> => {
    const { concurrencyPer } = options
    const due = { ...ours, ...isDue() }
    const late = { ...due, ...(concurrencyPer?.held && except(concurrencyPer.field, concurrencyPer.held())) }
    const [count, oldest] = await Promise.all([
      model.countDocuments(due, { limit: MAX_COUNTED }),
      model.findOne(late, { dueAt: 1 }).sort({ dueAt: 1 }).lean<Pick<T, 'dueAt'>>(),
    ])
    meter.backlog(count, oldest?.dueAt ? [oldest.dueAt] : [])
  }

  const wake = () => {
    searchAt = 0
    wakeUp.resolve()
  }
  const work = async (meter: Meter): Promise<void> => {
    let measureAt = 0
    const poll = async () => {
      if (Date.now() >= measureAt) {
        await measureBacklog(meter)
        measureAt = Date.now() + BACKLOG_EVERY_MS
      }
      await takeDue(meter)
    }
    while (!stopping.signal.aborted) {
      wakeUp = Promise.withResolvers()
      await meter.poll(poll)
      const waitMs = isFull() ? POLL_MS : Math.max(0, nextSearchAt() - Date.now())
      await Promise.race([wakeUp.promise, pause(waitMs, stopping.signal)])
    }
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  return {
    name,
    wake,
    start(runtime) {
      ended = work(createMeter(name, runtime))
    },
    stop() {
      stopping.abort()
      return ended
    },
  }
}

/** Both ends are named: without a lower one, some servers also read the records that are done. */
function isDue() {
  return { dueAt: { $gte: new Date(0), $lte: new Date() } }
}

/** Has no empty `$nin`, so that the search of an idle process uses the index of `dueAt` alone. */
function except(field: string, ids: readonly string[]): object {
  return ids.length > 0 ? { [field]: { $nin: ids.map(id => new Types.ObjectId(id)) } } : {}
}

function keyIn(record: object, field: string): string {
  return String((record as Record<string, unknown>)[field])
}
