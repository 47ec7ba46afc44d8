import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/**
 * Notes that contacts are opted out by more than the import that has done it, so that it stays when that is taken back.
 * Nothing else changes, and nobody sees it.
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
