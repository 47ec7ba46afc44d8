import { type DueJob, defineJob, type Outcome } from '@rollcall/jobs'
import type { Unscoped } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { Retention } from './retention.model.ts'

const DAY_MS = 24 * 3_600_000
const SLICE = 1000

/**
 * Gives stored events another expiry after an organization changed `eventRetentionDays`, from the newest to the oldest:
 *
 * 1. Find the next slice of events below the cursor.
 * 2. Set their `expiresAt`, then the cursor. A repeated slice writes the same values.
 *
 * Events that arrive meanwhile get the new expiry when they are stored.
 */
export function retentionJob(model: Unscoped<Retention>, context: () => Context): DueJob {
  return defineJob<Retention>({
    name: 'event-retention',
    due: { model },
    concurrency: 2,
    concurrencyPerOrganization: 1,
    run: retention => expireSlice(context(), retention),
  })
}

async function expireSlice(
  { collections }: Context,
  { organization, _id, attempts, cursor, days }: Retention,
): Promise<Outcome> {
  const { events, retentions } = collections.of(organization)
  const { at, _id: after } = cursor ?? {}
  const below = cursor ? { $or: [{ at: { $lt: at } }, { at, _id: { $lt: after } }] } : {}
  const sort = { at: -1, _id: -1 } as const
  const slice = await events.find(below, { sort, limit: SLICE, projection: { at: 1 } })
  await events.bulkWrite(
    slice.map(each => ({
      updateOne: { filter: { _id: each._id }, update: { $set: { expiresAt: expiryOf(each.at, days) } } },
    })),
  )
  const last = slice.length < SLICE ? undefined : slice.at(-1)
  const left = last ? { cursor: { at: last.at, _id: last._id } } : { cursor: null, dueAt: null }
  await retentions.updateOne({ _id, attempts }, { $set: left })
  return last ? 'again' : 'done'
}

/** Returns when an event expires. */
export function expiryOf(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS)
}

/** Returns for how many days an organization keeps its events. */
export async function retentionDays({ config }: Pick<Context, 'config'>, { retentions }: Tenant): Promise<number> {
  return (await retentions.findOne({}))?.days ?? config.EVENT_RETENTION_DAYS
}

/** Stores the days that an organization chose, for the job; keeps a later choice. Returns whether they changed. */
export async function chooseRetention({ retentions }: Tenant, days: number, chosenAt: Date): Promise<boolean> {
  const known = await retentions.findOne({})
  if (known && (known.chosenAt >= chosenAt || known.days === days)) return false
  const change = { $set: { days, chosenAt, dueAt: new Date(), cursor: null }, $inc: { attempts: 1 } }
  await retentions.updateOne(known ? { _id: known._id } : {}, change, { upsert: true })
  return true
}
