import { isObjectId } from '@rollcall/contract'
import type { GetPreferencesResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { Tenant } from '../collections.ts'

/** Returns what a contact can choose; nothing if there is no such contact. */
export async function getPreferences(
  { contacts, lists }: Pick<Tenant, 'contacts' | 'lists'>,
  contactId: string,
): Promise<GetPreferencesResponse> {
  const contact = isObjectId(contactId) ? await contacts.findOne({ _id: contactId }) : null
  if (!contact) return {}
  const joined = await lists.find({ _id: { $in: contact.lists ?? [] } }, { sort: { nameKey: 1 } })
  return {
    preferences: {
      email: contact.email,
      unsubscribed: contact.unsubscribed,
      lists: joined.map(({ _id, name }) => ({ id: String(_id), name })),
    },
  }
}
