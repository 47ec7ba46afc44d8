import { startOf } from '@rollcall/contract'
import { type BulkOperation, retryTransaction, type Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { type Counted, updateListCounts } from '../lists/list-counts.ts'
import type { GrowthKind, GrowthMonth } from './growth.model.ts'

/** A contact before and after a change; one is missing when it is created or deleted. */
export type CountedChange = { before?: Counted; after?: Counted; at: Date }

/** Documents that the counts of a month are spread over, for all contacts. Changes of a list conflict in its counts anyway. */
const SLOTS = 16

/**
 * Updates the counts of lists, and the growth of lists and of all contacts. Call it in the transaction that changes the
 * contacts, early: a conflict with another change of a list shows here.
 */
export async function countChanges(
  { lists, growth }: Pick<Tenant, 'lists' | 'growth'>,
  changes: readonly CountedChange[],
  tx: ClientSession,
): Promise<void> {
  await updateListCounts(lists, changes, tx)
  await countGrowth(growth, changes, tx)
}

async function countGrowth(growth: Scope<GrowthMonth>, changes: readonly CountedChange[], tx: ClientSession) {
  const months = new Map<string, { list: Types.ObjectId | null; month: Date; increments: Record<string, number> }>()
  const count = (list: Types.ObjectId | null, at: Date, kind: GrowthKind) => {
    const month = startOf('month', at)
    const key = `${list} ${month.getTime()}`
    const increments = months.get(key)?.increments ?? {}
    const path = `days.${at.getUTCDate()}.${kind}`
    increments[path] = (increments[path] ?? 0) + 1
    months.set(key, { list, month, increments })
  }
  for (const change of changes) for (const [list, kind] of movesOf(change)) count(list, change.at, kind)
  const writes = [...months.values()].map(({ list, month, increments }): BulkOperation => {
    const slot = list ? 0 : Math.floor(Math.random() * SLOTS)
    return { updateOne: { filter: { list, month, slot }, update: { $inc: increments }, upsert: true } }
  })
  await growth.bulkWrite(writes, { tx, timestamps: false }).catch(retryTransaction)
}

/** Returns what a change counts as: for all contacts (null) and for each list. */
function* movesOf({ before, after }: CountedChange): Generator<[list: Types.ObjectId | null, kind: GrowthKind]> {
  if (!before) yield [null, 'created']
  if (!after) yield [null, 'deleted']
  const turned = (['unsubscribed', 'blocked'] as const).filter(kind => after?.[kind] && !before?.[kind])
  for (const kind of turned) yield [null, kind]
  const [were, are] = [before?.lists ?? [], after?.lists ?? []]
  const [wasOn, isOn] = [new Set(were.map(String)), new Set(are.map(String))]
  for (const list of were) if (!isOn.has(String(list))) yield [list, 'deleted']
  for (const list of are) {
    const isMember = wasOn.has(String(list))
    if (!isMember) yield [list, 'created']
    if (isMember || !before) for (const kind of turned) yield [list, kind]
  }
}
