import { randomBytes } from 'node:crypto'
import { startOf } from '@rollcall/contract'
import { addEvents, event, isDuplicate, retryTransaction, type Store, toStoreError } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Collections, Tenant } from '../collections.ts'
import { type ClickDay, type Dimension, dimensions, type NamedCount } from './click.model.ts'
import type { NotedClicks } from './click-recorder.ts'
import type { CountryOf } from './countries.ts'
import { alive, type Link } from './link.model.ts'
import { type Traits, traitsOf, type Visit, visitorOf } from './visit.ts'

type Data = { store: Store; collections: Collections; countryOf: CountryOf | undefined }

/** A visit with what it is counted by. */
type Click = Traits & { at: Date; hash: string }

const DAY_MS = 86_400_000
const HOURS = 24
/** Names that a day keeps in each dimension; the others share one. Referrers are whatever a client sends. */
const MAX_NAMES = 200
const OTHERS = 'other'

/** Counts the clicks on one link, and removes those it has counted from `visits`. A deleted link counts none. */
export async function countClicks(data: Data, { link, visits }: NotedClicks): Promise<void> {
  const byDay = Map.groupBy(visits, ({ at }) => startOf('day', at).getTime())
  for (const [start, ofDay] of byDay) {
    const day = new Date(start)
    const salt = await saltOf(data.collections, day)
    const clicks = ofDay.map(visit => clickOf(visit, salt, data.countryOf))
    await data.store.transaction(tx => countDay(data.collections.of(link.organization, tx), link._id, day, clicks, tx))
    visits.splice(0, visits.length, ...visits.filter(visit => !ofDay.includes(visit)))
  }
}

async function countDay(
  tenant: Tenant,
  id: Link['_id'],
  day: Date,
  clicks: readonly Click[],
  tx: ClientSession,
): Promise<void> {
  const link = await tenant.links.findOne({ _id: id, ...alive })
  if (!link) return
  const unique = await addVisitors(tenant, id, day, clicks)
  const last = new Date(Math.max(...clicks.map(({ at }) => at.getTime())))
  const change = { $inc: { clicks: clicks.length, uniqueClicks: unique.length }, $max: { lastClickedAt: last } }
  await tenant.links.updateOne({ _id: id }, change, { timestamps: false })
  await addToDay(tenant, id, day, clicks, unique)
  await addEvents(
    tx,
    unique.map(click => linkClicked(link, click)),
  )
}

/** Stores the visitors who are new on this day, and returns the first click of each. */
async function addVisitors(
  { visitors }: Tenant,
  link: Link['_id'],
  day: Date,
  clicks: readonly Click[],
): Promise<Click[]> {
  const first = new Map<string, Click>()
  for (const click of clicks) if (!first.has(click.hash)) first.set(click.hash, click)
  const known = await visitors.find({ link, day, hash: { $in: [...first.keys()] } }, { projection: { hash: 1 } })
  for (const { hash } of known) first.delete(hash)
  const added = [...first.values()]
  const expiresAt = expiryOf(day)
  await visitors.insertMany(added.map(({ hash }) => ({ link, day, hash, expiresAt }))).catch(retryTransaction)
  return added
}

async function addToDay(
  { clickDays }: Tenant,
  link: Link['_id'],
  day: Date,
  clicks: readonly Click[],
  unique: readonly Click[],
): Promise<void> {
  const known = await clickDays.findOne({ link, day })
  const counts = known ?? emptyDay()
  const sums = {
    clicks: addByHour(counts.clicks, clicks),
    unique: addByHour(counts.unique, unique),
    ...Object.fromEntries(dimensions.map(dimension => [dimension, addByName(counts[dimension], clicks, dimension)])),
  }
  if (known) await clickDays.updateOne({ _id: known._id }, { $set: sums })
  else await clickDays.insertOne({ link, day, ...sums }).catch(retryTransaction)
}

function emptyDay(): Pick<ClickDay, 'clicks' | 'unique' | Dimension> {
  const hours = Array.from({ length: HOURS }, () => 0)
  return { clicks: hours, unique: hours, referrers: [], countries: [], devices: [] }
}

function addByHour(hours: readonly number[], clicks: readonly Click[]): number[] {
  const sums = [...hours]
  for (const { at } of clicks) sums[at.getUTCHours()]!++
  return sums
}

function addByName(counts: readonly NamedCount[], clicks: readonly Click[], dimension: Dimension): NamedCount[] {
  const sums = new Map(counts.map(({ name, clicks }) => [name, clicks]))
  for (const click of clicks) {
    const name = sums.has(click[dimension]) || sums.size < MAX_NAMES ? click[dimension] : OTHERS
    sums.set(name, (sums.get(name) ?? 0) + 1)
  }
  return [...sums].map(([name, clicks]) => ({ name, clicks }))
}

function clickOf(visit: Visit, salt: string, countryOf: CountryOf | undefined): Click {
  return { at: visit.at, hash: visitorOf(visit, salt), ...traitsOf(visit, countryOf) }
}

function linkClicked({ _id, organization, slug, url }: Link, { at, referrers, countries, devices }: Click) {
  const data = { linkId: _id, slug, url, at, referrer: referrers, country: countries, device: devices }
  return event('link.clicked', { _id, organization }, data, at)
}

/** Returns the salt of a day, which all replicas share. */
async function saltOf({ unscoped }: Collections, day: Date): Promise<string> {
  const _id = day.toISOString().slice(0, 10)
  const made = { salt: randomBytes(32).toString('base64'), expiresAt: expiryOf(day) }
  const find = () =>
    unscoped.salts
      .findOneAndUpdate({ _id }, { $setOnInsert: made }, { upsert: true, returnDocument: 'after' })
      .lean<{ salt: string }>()
      .exec()
  try {
    return (await find())!.salt
  } catch (error) {
    if (!isDuplicate(error)) throw toStoreError(error)
    return (await find())!.salt // another process made it first
  }
}

/** Visitors of a day are known until the next one ends: clicks may be counted late. */
function expiryOf(day: Date): Date {
  return new Date(day.getTime() + 2 * DAY_MS)
}
