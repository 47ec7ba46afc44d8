import { startOf } from '@rollcall/contract'
import { insertOf, type Scope } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { listIdsOf } from '../lists/repair-counts.ts'
import { dayOf, daysOf, type GrowthDays, type GrowthMonth, growthKinds } from './growth.model.ts'

/** Corrected growth of all contacts of an organization, or of a list: the number of days that were wrong. */
export type GrowthRepair = { organization: string; list?: string; days: number }

const EPOCH = new Date(0)
/** How long a repair retries after conflicts with writers. */
const REPAIR_MS = 300_000
/** Time limit of a count. MongoDB ends a transaction after a minute. */
const COUNT_MS = 50_000
const BATCH = 1000

/** Recounts the growth of all contacts of every organization and of every list. Safe while others write. */
export async function repairGrowth(data: Data): Promise<GrowthRepair[]> {
  const repairs: GrowthRepair[] = []
  const repair = async (organization: string, list: Types.ObjectId | null) => {
    const tenant = data.collections.of(organization)
    const correct = async (tx: ClientSession) => {
      const proven = list ? await provenByMembers(tenant, list, tx) : await provenByContacts(tenant.contacts, tx)
      return correctGrowth(tenant.growth, list, proven, tx)
    }
    const days = await data.store.transaction(correct, { timeoutMs: REPAIR_MS })
    if (days > 0) repairs.push({ organization, ...(list && { list: String(list) }), days })
  }
  const { contacts, growth } = data.collections.unscoped
  const organizations = [await contacts.distinct('organization'), await growth.distinct('organization')].flat()
  for (const organization of new Set(organizations.map(String))) await repair(organization, null)
  for (const { _id, organization } of await listIdsOf(data)) await repair(String(organization), _id)
  return repairs
}

/** Returns what existing contacts prove: when each was created, opted out and was blocked. */
async function provenByContacts(contacts: Scope<Contact>, tx: ClientSession): Promise<GrowthDays> {
  const proven: GrowthDays = new Map()
  const dates = { created: 'createdAt', unsubscribed: 'unsubscribedAt', blocked: 'blockedAt' } as const
  for (const kind of ['created', 'unsubscribed', 'blocked'] as const)
    for (const { _id: day, count } of await countByDay(contacts, dates[kind], {}, tx)) dayOf(proven, day)[kind] += count
  return proven
}

/** Returns what existing members prove: when each joined, and has opted out or was blocked since. */
async function provenByMembers(
  { contacts, memberships }: Tenant,
  list: Types.ObjectId,
  tx: ClientSession,
): Promise<GrowthDays> {
  const proven: GrowthDays = new Map()
  for (const { _id: day, count } of await countByDay(memberships, 'addedAt', { list }, tx))
    dayOf(proven, day).created += count
  const inactive = { lists: list, $or: [{ blocked: true }, { unsubscribed: true }] }
  const projection = { position: 1, createdAt: 1, blockedAt: 1, unsubscribedAt: 1 } as const
  for (let after = 0; ; ) {
    const page = { tx, projection, sort: { position: 1 }, limit: BATCH, maxTimeMs: COUNT_MS } as const
    const found = await contacts.find({ ...inactive, position: { $gt: after } }, page)
    const ids = found.map(({ _id }) => _id)
    const joined = await memberships.find({ list, contact: { $in: ids } }, { tx, batchSize: BATCH + 1 })
    const addedAt = new Map(joined.map(({ contact, addedAt }) => [String(contact), addedAt]))
    for (const contact of found) {
      const since = addedAt.get(String(contact._id))
      if (since) prove(proven, contact, since)
    }
    if (found.length < BATCH) return proven
    after = found.at(-1)!.position
  }
}

/** Counts what happened to a member since it joined. What it was created with, it had when it came. */
function prove(days: GrowthDays, { createdAt, unsubscribedAt, blockedAt }: Contact, addedAt: Date): void {
  const isCreatedWith = createdAt.getTime() === addedAt.getTime()
  const isSince = (at: Date | null): at is Date =>
    at !== null && (at > addedAt || (isCreatedWith && at.getTime() === addedAt.getTime()))
  if (isSince(unsubscribedAt)) dayOf(days, unsubscribedAt).unsubscribed++
  if (isSince(blockedAt)) dayOf(days, blockedAt).blocked++
}

function countByDay<T extends object>(scope: Scope<T>, path: string, of: object, tx: ClientSession) {
  return scope.aggregate<{ _id: Date; count: number }>(
    [
      { $match: { ...of, [path]: { $gt: EPOCH } } },
      { $group: { _id: { $dateTrunc: { date: `$${path}`, unit: 'day' } }, count: { $sum: 1 } } },
    ],
    { tx, maxTimeMs: COUNT_MS },
  )
}

/**
 * Corrects counts by what records prove, and returns the number of days that were wrong. An existing record was created, and
 * one that was created but does not exist was deleted. Of records that are gone, nothing else can be proven.
 */
async function correctGrowth(
  growth: Scope<GrowthMonth>,
  list: Types.ObjectId | null,
  proven: GrowthDays,
  tx: ClientSession,
): Promise<number> {
  const counted = daysOf(await growth.find({ list }, { tx }))
  const right: GrowthDays = new Map()
  let gone = [...counted.values()].reduce((sum, { deleted }) => sum + deleted, 0)
  let wrong = 0
  const all = [...new Set([...counted.keys(), ...proven.keys()])].sort((a, b) => a - b)
  for (const day of all) {
    const [was, is] = [dayOf(counted, day), dayOf(proven, day)]
    const goneToday = Math.min(Math.max(0, was.created - is.created), gone)
    gone -= goneToday
    const counts = Object.assign(dayOf(right, day), {
      created: is.created + goneToday,
      unsubscribed: Math.max(was.unsubscribed, is.unsubscribed),
      blocked: Math.max(was.blocked, is.blocked),
      deleted: was.deleted,
    })
    if (growthKinds.some(kind => counts[kind] !== was[kind])) wrong++
  }
  if (wrong === 0) return 0
  await growth.deleteMany({ list }, { tx })
  await growth.bulkWrite(monthsOf(growth.organization, list, right).map(insertOf), { tx })
  return wrong
}

function monthsOf(organization: Types.ObjectId, list: Types.ObjectId | null, days: GrowthDays): GrowthMonth[] {
  const byMonth = Map.groupBy(days, ([day]) => startOf('month', new Date(day)).getTime())
  return [...byMonth].map(([month, ofMonth]) => ({
    _id: new Types.ObjectId(),
    organization,
    list,
    month: new Date(month),
    slot: 0,
    days: Object.fromEntries(ofMonth.map(([day, counts]) => [new Date(day).getUTCDate(), counts])),
  }))
}
