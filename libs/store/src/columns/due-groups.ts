import type { Types } from 'mongoose'
import { positionModel, positions } from '../positions/positions.ts'
import type { Unscoped } from '../tenancy/collections.ts'
import type { Store } from '../tenancy/connection.ts'
import { translateErrors } from '../tenancy/errors.ts'
import type { ColumnData } from './rewrite.ts'
import { groupOf, type RowGroup, type StaleRows } from './row-group.model.ts'

/** Changed and added rows from which on a group is rewritten. */
const MAX_STALE = 256
/** Stale rows of a list: with more, each search would look up too many. */
const MAX_STALE_IN_ALL = 4096
/** A group with stale rows is rewritten after this time: then its columns have no values of deleted records. */
const MAX_STALE_MS = 5 * 60_000
/** Shorter lists get columns only when they change. */
const MIN_POSITIONS = 1000

/** A group with stale rows: their number, and since when. */
export type StaleGroup = { group: number; count: number; since: Date }
/** A list whose columns are due, by its organization. */
export type DueList = { _id: Types.ObjectId; since: Date }

/** Returns those of a list's groups that are to be rewritten by now, those with the most stale rows first. */
export function dueOf(stale: readonly StaleGroup[], now = Date.now()): StaleGroup[] {
  const total = stale.reduce((sum, { count }) => sum + count, 0)
  const limit = total > MAX_STALE_IN_ALL ? 1 : MAX_STALE
  return stale
    .filter(({ count, since }) => count >= limit || since.getTime() + MAX_STALE_MS <= now)
    .sort((a, b) => b.count - a.count)
}

const counted = { count: { $sum: '$count' }, since: { $min: '$at' } } as const

/** Returns the lists of all organizations that have groups to rewrite because of stale rows. */
export async function dueLists(staleRows: Unscoped<StaleRows>): Promise<DueList[]> {
  type Counted = Omit<StaleGroup, 'group'> & { _id: { organization: Types.ObjectId; group: number } }
  const groups = await translateErrors(
    staleRows.aggregate<Counted>([{ $group: { _id: { organization: '$organization', group: '$group' }, ...counted } }]),
  )
  const byList = Map.groupBy(groups, ({ _id }) => String(_id.organization))
  return [...byList.values()].flatMap(list => {
    const due = dueOf(list.map(({ _id, count, since }) => ({ group: _id.group, count, since })))
    const since = new Date(Math.min(...due.map(({ since }) => since.getTime())))
    return due.length > 0 ? [{ _id: list[0]!._id.organization, since }] : []
  })
}

/** Returns the long lists of all organizations that lack groups. */
export async function listsWithoutColumns(
  store: Store,
  rowGroups: Unscoped<RowGroup>,
  name: string,
): Promise<DueList[]> {
  const registers = await translateErrors(
    positionModel(store)
      .find({ name, last: { $gte: MIN_POSITIONS } }, { organization: 1, last: 1 })
      .lean(),
  )
  const since = new Date()
  const missing: DueList[] = []
  for (const { organization, last } of registers) {
    const unnoted = await positions(store, organization, name).unnoted()
    const known = await translateErrors(rowGroups.countDocuments({ organization, unnoted }))
    if (known <= groupOf(last)) missing.push({ _id: organization, since })
  }
  return missing
}

/** Returns the groups of a list that are to be written: those with stale rows, and those that were never written. */
export async function dueGroups(data: Pick<ColumnData, 'staleRows' | 'rowGroups' | 'positions'>): Promise<number[]> {
  const groups = await data.staleRows.aggregate<Omit<StaleGroup, 'group'> & { _id: number }>([
    { $match: {} },
    { $group: { _id: '$group', ...counted } },
  ])
  const due = dueOf(groups.map(({ _id, ...stale }) => ({ group: _id, ...stale })))
  return [...new Set([...due.map(({ group }) => group), ...(await missingGroups(data))])]
}

/** Returns the groups of a list that were never written, or without changes of an older release. None of a short list. */
async function missingGroups({ rowGroups, positions }: Pick<ColumnData, 'rowGroups' | 'positions'>): Promise<number[]> {
  const { last } = await positions.read()
  if (last < MIN_POSITIONS) return []
  const unnoted = await positions.unnoted()
  const known = new Set((await rowGroups.find({ unnoted }, { projection: { group: 1 } })).map(({ group }) => group))
  return Array.from({ length: groupOf(last) + 1 }, (_, group) => group).filter(group => !known.has(group))
}
