import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/** The contacts that wishes are about, by id; those that the organization does not have are missing. */
export async function findContacts(
  contacts: Scope<Contact>,
  wishes: readonly { id: string }[],
  tx: ClientSession,
): Promise<Map<string, Contact>> {
  const ids = [...new Set(wishes.map(({ id }) => id))]
  const found = await contacts.find({ _id: { $in: ids } }, { tx })
  return new Map(found.map(contact => [String(contact._id), contact]))
}
