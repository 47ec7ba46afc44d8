import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/**
 * Marks opt-outs of imports as confirmed by somebody else, so that undoing the import keeps them. Invisible to clients.
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
