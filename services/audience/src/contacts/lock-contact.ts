import type { Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Contact } from './contact.model.ts'

/**
 * Conflicts with every transaction that changes or deletes the contact, so one of the two is retried. Call it before writing
 * records that are deleted with the contact. Returns whether the contact exists.
 */
export async function lockContact(contacts: Scope<Contact>, _id: Types.ObjectId, tx: ClientSession): Promise<boolean> {
  return (await lockContacts(contacts, [_id], tx)) > 0
}

/** Does the same for several contacts, and returns how many exist. */
export async function lockContacts(
  contacts: Scope<Contact>,
  ids: readonly Types.ObjectId[],
  tx: ClientSession,
): Promise<number> {
  const countLock = { $inc: { looks: 1 } } // a write that changes nothing would not conflict
  const { matchedCount } = await contacts.updateMany({ _id: { $in: ids } }, countLock, { tx, timestamps: false })
  return matchedCount
}
