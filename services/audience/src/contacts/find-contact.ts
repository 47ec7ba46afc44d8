import { AppError } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from './contact.model.ts'

/** The contact with this id. @throws {AppError} not_found where the organization has none */
export async function findContact(contacts: Scope<Contact>, id: string, session?: ClientSession): Promise<Contact> {
  const contact = await contacts.findOne({ _id: id }, { session })
  if (!contact) throw new AppError('not_found', { what: 'contact' })
  return contact
}
