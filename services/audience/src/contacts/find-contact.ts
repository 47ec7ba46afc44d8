import { AppError } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/** The contact with this id. @throws {AppError} not_found where the organization has none */
export async function findContact(contacts: Scope<Contact>, id: string): Promise<Contact> {
  const contact = await contacts.findOne({ _id: id })
  if (!contact) throw new AppError('contact.not_found')
  return contact
}

/** The contacts that wishes are about, by id; those that the organization does not have are missing. */
export async function findContacts(
  contacts: Scope<Contact>,
  wishes: readonly { id: string }[],
  session: ClientSession,
): Promise<Map<string, Contact>> {
  const ids = [...new Set(wishes.map(({ id }) => id))]
  const found = await contacts.find({ _id: { $in: ids } }, { session })
  return new Map(found.map(contact => [String(contact._id), contact]))
}
