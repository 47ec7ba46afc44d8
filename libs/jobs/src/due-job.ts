import { backoffMs, pause } from '@rollcall/runtime'
import type { Unscoped } from '@rollcall/store'
import type { Types } from 'mongoose'
import { BACKOFF, type Backoff, type Job, type Outcome } from './job.ts'
import { createMeter, type Meter } from './meter.ts'

/** A record that is a task. It needs an index on `dueAt`. */
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
  due: { model: Unscoped<T> }
  /**
   * Runs one record. `done`: the run has set `dueAt` to null, in the write that stores its effect. `again` or a number:
   * the record is due again now, or after so many milliseconds. Rejecting: after the backoff of its attempts.
   */
  run(record: T, slice: { signal: AbortSignal }): Promise<Outcome>
  /** Records that this process runs concurrently. */
  concurrency: number
  /** Of these, records of one organization: a slow one must not delay the others. */
  concurrencyPerOrganization: number
  /** Of these, records with one value of a field, an id: the limit of a value may change at any time. */
  concurrencyPer?: { field: keyof T & string; limitOf(value: string): number }
  backoff?: Backoff
}

/** A running job over due records. */
export type DueJob = Job & {
  /** Searches for due records now: one was just stored. */
  wake(): void
}

/** How many records with one value of a field may run concurrently. */
type Limit = { field: string; limitOf(value: string): number }

const POLL_MS = 1000
const CLAIM_MS = 15_000
const HEARTBEAT_MS = 5000
const BACKLOG_EVERY_MS = 10_000
/** Counting stops here: the alert needs no more. */
const MAX_COUNTED = 10_000

/** Creates a job over records that are due; see `defineJob`. */
export function dueJob<T extends DueRecord>(options: DueJobOptions<T>): DueJob {
  const { name, concurrency, backoff = BACKOFF } = options
  const limits: Limit[] = [{ field: 'organization', limitOf: () => options.concurrencyPerOrganization }]
  if (options.concurrencyPer) limits.push(options.concurrencyPer)
  // The filters name fields of DueRecord alone, which mongoose cannot see in a type parameter.
  const model = options.due.model as unknown as Unscoped<DueRecord>
  const running = new Map<string, { record: T; ended: Promise<void> }>()
  const stopping = new AbortController()
  let wakeUp = Promise.withResolvers<void>()
  let ended: Promise<void> = Promise.resolve()

  /** Returns the values of a field that no further record may have. */
  const busyValues = ({ field, limitOf }: Limit): Types.ObjectId[] => {
    const records = [...running.values()].map(({ record }) => record)
    return [...Map.groupBy(records, record => String(idIn(record, field)))]
      .filter(([value, { length }]) => length >= limitOf(value))
      .map(([, [first]]) => idIn(first!, field))
  }
  const isBusy = (record: T) =>
    limits.some(limit => busyValues(limit).some(value => value.equals(idIn(record, limit.field))))

  const takeDue = async (meter: Meter): Promise<void> => {
    const free = concurrency - running.size
    if (free <= 0) return
    const filter = {
      ...isDue(),
      ...except('_id', [...running.keys()]), // their claim may have expired: another replica has to take them
      ...Object.assign({}, ...limits.map(limit => except(limit.field, busyValues(limit)))),
    }
    const due = await model
      .find(filter)
      .sort({ dueAt: 1 })
      .limit(Math.min(free, options.concurrencyPerOrganization))
      .lean<T[]>()
    for (const record of due)
      if (!stopping.signal.aborted && !isBusy(record) && (await claim(record))) begin(record, meter)
    if (due.length > 0) wake()
  }

  const claim = async (record: T): Promise<boolean> => {
    const { _id, dueAt, attempts } = record
    record.dueAt = new Date(Date.now() + CLAIM_MS)
    record.attempts += 1
    const update = { $set: { dueAt: record.dueAt }, $inc: { attempts: 1 } }
    return (await model.updateOne({ _id, dueAt, attempts }, update)).matchedCount === 1
  }

  /** Makes a record due at another time, unless it is done or another replica has claimed it. */
  const moveTo = (dueAt: Date, { _id, attempts }: DueRecord) =>
    model.updateOne({ _id, attempts, dueAt: { $ne: null } }, { $set: { dueAt } })

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

  const begin = (record: T, meter: Meter): void => {
    const id = String(record._id)
    const ended = runClaimed(record, meter)
      .catch(err => meter.logger.warn({ err, record: id }, 'record not rescheduled, it is due when its claim expires'))
      .finally(() => {
        running.delete(id)
        wake()
      })
    running.set(id, { record, ended })
  }

  const measureBacklog = async (meter: Meter): Promise<void> => {
    const filter = isDue()
    const [count, oldest] = await Promise.all([
      model.countDocuments(filter, { limit: MAX_COUNTED }),
      model.findOne(filter, { dueAt: 1 }).sort({ dueAt: 1 }).lean<Pick<T, 'dueAt'>>(),
    ])
    meter.backlog(count, oldest?.dueAt ? [oldest.dueAt] : [])
  }

  const wake = () => wakeUp.resolve()
  const work = async (meter: Meter): Promise<void> => {
    let measureAt = 0
    const search = async () => {
      if (Date.now() >= measureAt) {
        await measureBacklog(meter)
        measureAt = Date.now() + BACKLOG_EVERY_MS
      }
      await takeDue(meter)
    }
    while (!stopping.signal.aborted) {
      wakeUp = Promise.withResolvers()
      await meter.poll(search)
      await Promise.race([wakeUp.promise, pause(POLL_MS, stopping.signal)])
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

/** An idle process has none to except, and its search the index of `dueAt` alone to choose. */
function except(field: string, values: readonly unknown[]): object {
  return values.length > 0 ? { [field]: { $nin: values } } : {}
}

function idIn(record: object, field: string): Types.ObjectId {
  return (record as Record<string, Types.ObjectId>)[field]!
}
