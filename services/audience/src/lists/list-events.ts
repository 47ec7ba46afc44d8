import { event, type OutgoingEvent } from '@rollcall/store'
import type { Membership } from './membership.model.ts'

/** Tells that a contact is on a list from now on. */
export function addedToListEvent({ organization, contact, list, source, addedAt: at }: Membership): OutgoingEvent {
  const data = { contactId: contact, listId: list, source, at }
  return event('triggers.audience.added_to_list', { _id: contact, organization }, data, at)
}
