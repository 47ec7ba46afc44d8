import type { Actor } from '@rollcall/rpc'
import { event, type OutgoingEvent } from '@rollcall/store'
import type { Membership } from './membership.model.ts'

/** Returns the event of a contact added to a list. */
export function addedToListEvent({ organization, contact, list, source, addedAt: at }: Membership): OutgoingEvent {
  const data = { contactId: contact, listId: list, source, at }
  return event('triggers.audience.added_to_list', { _id: contact, organization }, data, at)
}

/** Returns the event of a contact removed from a list. */
export function removedFromListEvent(
  { organization, contact, list }: Membership,
  actor: Actor,
  at: Date,
): OutgoingEvent {
  return event(
    'contact.removed_from_list',
    { _id: contact, organization },
    { contactId: contact, listId: list, at, actor },
    at,
  )
}
