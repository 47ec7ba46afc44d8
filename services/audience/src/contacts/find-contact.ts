import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/** Returns the contacts that requests name, by id, without unknown ones. */
export async function findContacts(
  contacts: Scope<Contact>,
  requests: readonly { id: string }[],
  tx: ClientSession,
): Promise<Map<string, Contact>> {
  const ids = [...new Set(requests.map(({ id }) => id))]
  const found = await contacts.find({ _id: { $in: ids } }, { tx })
  return new Map(found.map(contact => [String(contact._id), contact]))
}
