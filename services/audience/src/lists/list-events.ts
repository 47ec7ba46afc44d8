import { randomUUID } from 'node:crypto'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { type AudienceList, publicList } from './list.model.ts'
import type { Membership } from './membership.model.ts'

/** Tells that a contact is on a list from now on. */
export function addedToListEvent({ organization, contact, list, source, addedAt }: Membership): Event {
  return {
    id: randomUUID(),
    type: 'triggers.audience.added_to_list',
    source: 'audience',
    subject: String(contact),
    organization: String(organization),
    time: addedAt.toISOString(),
    data: { contactId: String(contact), listId: String(list), source, at: addedAt.toISOString() },
  }
}

/** Tells what became of a list itself; `changed` names the fields, of an update. */
export function listEvent(
  type: 'list.created' | 'list.updated' | 'list.deleted',
  list: AudienceList,
  actor: Actor,
  changed?: readonly string[],
): Event {
  return {
    id: randomUUID(),
    type,
    source: 'audience',
    subject: String(list._id),
    organization: String(list.organization),
    time: new Date().toISOString(),
    data: { list: publicList(list), ...(changed && { changed }), actor },
  }
}
