import { type ClientSession, Types } from 'mongoose'
import type { RecordChanges } from '../positions/positions.ts'
import type { Store } from '../tenancy/connection.ts'
import { translateErrors } from '../tenancy/errors.ts'
import { GROUP_ROWS, groupOf, type StaleRows } from './row-group.model.ts'

/**
 * Notes in the transaction that changes records that their columns are stale. Each transaction inserts notes of its own: a
 * list of stale rows in the group would make all writers of a group conflict.
 */
export async function noteChanges(
  { connection }: Store,
  tx: ClientSession,
  organization: Types.ObjectId,
  { changed = [], added }: RecordChanges,
): Promise<void> {
  const at = new Date()
  const note = (group: number, positions: number[], count: number): StaleRows => ({
    _id: new Types.ObjectId(),
    organization,
    group,
    positions,
    count,
    at,
  })
  const byGroup = Map.groupBy(new Set(changed), groupOf)
  const notes = [...byGroup].map(([group, positions]) => note(group, positions, positions.length))
  for (let { first, count } = added ?? { first: 1, count: 0 }; count > 0; ) {
    const group = groupOf(first)
    const share = Math.min(count, (group + 1) * GROUP_ROWS - first + 1)
    notes.push(note(group, [], share))
    first += share
    count -= share
  }
  if (notes.length === 0) return
  const collection = connection.collection<StaleRows>('staleRows')
  await translateErrors(collection.insertMany(notes, { session: tx, ordered: true }))
}
