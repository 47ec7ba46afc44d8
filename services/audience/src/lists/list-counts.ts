import type { Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { AudienceList } from './list.model.ts'

/** The fields of a contact that the counts of its lists depend on. */
export type Counted = Pick<Contact, 'lists' | 'blocked' | 'unsubscribed'>

/** Returns the queue of transactions that change the members of a list: they would conflict in its counts. */
export function listQueue(listId: string | Types.ObjectId): string {
  return `list ${listId}`
}

/** Updates the counts of lists; `before` and `after` are missing of contacts that are created and deleted. */
export async function updateListCounts(
  lists: Scope<AudienceList>,
  changes: readonly { before?: Counted; after?: Counted }[],
  tx: ClientSession,
): Promise<void> {
  const moves = new Map<string, { memberCount: number; activeCount: number }>()
  const count = (contact: Counted | undefined, by: 1 | -1) => {
    for (const list of contact?.lists ?? []) {
      const move = moves.get(String(list)) ?? { memberCount: 0, activeCount: 0 }
      move.memberCount += by
      if (isActive(contact!)) move.activeCount += by
      moves.set(String(list), move)
    }
  }
  for (const { before, after } of changes) {
    count(before, -1)
    count(after, 1)
  }
  for (const [_id, { memberCount, activeCount }] of moves) {
    if (memberCount !== 0 || activeCount !== 0)
      await lists.updateOne({ _id }, { $inc: { memberCount, activeCount } }, { tx, timestamps: false })
  }
}

/** Whether a campaign may send to the contact. */
export function isActive({ blocked, unsubscribed }: Pick<Contact, 'blocked' | 'unsubscribed'>): boolean {
  return !blocked && !unsubscribed
}
