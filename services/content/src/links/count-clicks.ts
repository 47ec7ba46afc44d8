import { randomBytes } from 'node:crypto'
import { startOf } from '@rollcall/contract'
import {
  addEvents,
  type BulkOperation,
  event,
  insertOf,
  isDuplicate,
  retryTransaction,
  type Store,
  toStoreError,
} from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Collections, Tenant } from '../collections.ts'
import { type ClickDay, type Dimension, dimensions, type NamedCount } from './click.model.ts'
import type { NotedClicks } from './click-recorder.ts'
import type { CountryOf } from './countries.ts'
import { alive, type Link } from './link.model.ts'
import { type Traits, traitsOf, type Visit, visitorOf } from './visit.ts'

type Data = { store: Store; collections: Collections; countryOf: CountryOf | undefined }

/** A visit of a link, with what it is counted by. */
type Click = Traits & { link: Link['_id']; at: Date; hash: string }

const DAY_MS = 86_400_000
const HOURS = 24
/** Names that a day keeps in each dimension; the others share one. Referrers are whatever a client sends. */
const MAX_NAMES = 200
const OTHERS = 'other'

/**
 * Counts the clicks on links of one organization in a transaction for each day, and removes those it has counted from their
 * `visits`. A deleted link counts none.
 */
export async function countClicks(data: Data, noted: readonly NotedClicks[]): Promise<void> {
  const all = noted.flatMap(({ link, visits }) => visits.map(visit => ({ link: link._id, visit })))
  for (const [start, ofDay] of Map.groupBy(all, ({ visit }) => startOf('day', visit.at).getTime())) {
    const day = new Date(start)
    const salt = await saltOf(data.collections, day)
    const clicks = ofDay.map(({ link, visit }) => ({ link, ...clickOf(visit, salt, data.countryOf) }))
    const { organization } = noted[0]!.link
    await data.store.transaction(tx => countDay(data.collections.of(organization, tx), day, clicks, tx))
    const counted = new Set(ofDay.map(({ visit }) => visit))
    for (const each of noted) each.visits = each.visits.filter(visit => !counted.has(visit))
  }
}

async function countDay(tenant: Tenant, day: Date, all: readonly Click[], tx: ClientSession): Promise<void> {
  const links = await tenant.links.find({ _id: { $in: linksOf(byLink(all)) }, ...alive })
  const byId = new Map(links.map(link => [String(link._id), link]))
  const clicks = byLink(all.filter(({ link }) => byId.has(String(link))))
  const unique = await addVisitors(tenant, day, clicks)
  await tenant.links.bulkWrite(
    links.map(({ _id }) => ({
      updateOne: { filter: { _id }, update: countUpdate(clicks.get(String(_id))!, unique.get(String(_id)) ?? []) },
    })),
    { timestamps: false },
  )
  await addToDays(tenant, day, clicks, unique)
  const events = [...unique].flatMap(([id, ofLink]) => ofLink.map(click => linkClicked(byId.get(id)!, click)))
  await addEvents(tx, events)
}

/** Clicks by the id of their link. */
type ByLink = Map<string, Click[]>

function byLink(clicks: readonly Click[]): ByLink {
  return Map.groupBy(clicks, ({ link }) => String(link))
}

function linksOf(clicks: ByLink): Link['_id'][] {
  return [...clicks.values()].map(([first]) => first!.link)
}

function countUpdate(clicks: readonly Click[], unique: readonly Click[]) {
  const lastClickedAt = new Date(clicks.reduce((last, { at }) => Math.max(last, at.getTime()), 0))
  return { $inc: { clicks: clicks.length, uniqueClicks: unique.length }, $max: { lastClickedAt } }
}

/** Stores the visitors who are new on this day, and returns the first click of each. */
async function addVisitors({ visitors }: Tenant, day: Date, clicks: ByLink): Promise<ByLink> {
  const first = new Map<string, Click>()
  const keyOf = ({ link, hash }: Pick<Click, 'link' | 'hash'>) => `${link} ${hash}`
  for (const click of [...clicks.values()].flat()) if (!first.has(keyOf(click))) first.set(keyOf(click), click)
  const hashes = [...new Set([...first.values()].map(({ hash }) => hash))]
  const wanted = { link: { $in: linksOf(clicks) }, day, hash: { $in: hashes } }
  const known = await visitors.find(wanted, { projection: { link: 1, hash: 1 } })
  for (const visitor of known) first.delete(keyOf(visitor))
  const added = [...first.values()]
  const expiresAt = expiryOf(day)
  await visitors.insertMany(added.map(({ link, hash }) => ({ link, day, hash, expiresAt }))).catch(retryTransaction)
  return byLink(added)
}

async function addToDays({ clickDays }: Tenant, day: Date, clicks: ByLink, unique: ByLink): Promise<void> {
  const found = await clickDays.find({ link: { $in: linksOf(clicks) }, day })
  const known = new Map(found.map(each => [String(each.link), each]))
  const sumsOf = (id: string, ofLink: readonly Click[]) => {
    const counts = known.get(id) ?? emptyDay()
    return {
      clicks: addByHour(counts.clicks, ofLink),
      unique: addByHour(counts.unique, unique.get(id) ?? []),
      ...Object.fromEntries(dimensions.map(dimension => [dimension, addByName(counts[dimension], ofLink, dimension)])),
    }
  }
  const writes = [...clicks].map(([id, ofLink]): BulkOperation => {
    const sums = sumsOf(id, ofLink)
    const former = known.get(id)
    if (former) return { updateOne: { filter: { _id: former._id }, update: { $set: sums } } }
    return insertOf({ _id: new Types.ObjectId(), link: ofLink[0]!.link, day, ...sums })
  })
  await clickDays.bulkWrite(writes).catch(retryTransaction)
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

function clickOf(visit: Visit, salt: string, countryOf: CountryOf | undefined): Omit<Click, 'link'> {
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
