import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/**
 * Marks opt-outs of imports and bulk jobs as confirmed by somebody else, so that an undo keeps them. Invisible to
 * clients.
 */
export async function confirmOptOuts(
  contacts: Scope<Contact>,
  confirmed: readonly Contact[],
  tx: ClientSession,
): Promise<void> {
  const ids = confirmed.filter(({ unsubscribed, optedOutBy }) => unsubscribed && optedOutBy).map(({ _id }) => _id)
  if (ids.length === 0) return
  await contacts.updateMany({ _id: { $in: ids } }, { $set: { optedOutBy: null } }, { tx, timestamps: false })
}

/** Does the same for blocks of bulk jobs. */
export async function confirmBlocks(
  contacts: Scope<Contact>,
  confirmed: readonly Contact[],
  tx: ClientSession,
): Promise<void> {
  const ids = confirmed.filter(({ blocked, blockedBy }) => blocked && blockedBy).map(({ _id }) => _id)
  if (ids.length === 0) return
  await contacts.updateMany({ _id: { $in: ids } }, { $set: { blockedBy: null } }, { tx, timestamps: false })
}
