import type { Actor } from '@rollcall/rpc'
import { event, type OutgoingEvent } from '@rollcall/store'
import type { Change } from './changes.ts'
import { type Contact, publicContact } from './contact.model.ts'

/** Tells that a contact was made. */
export function createdEvent(contact: Contact): OutgoingEvent {
  const data = { contact: publicContact(contact), actor: contact.createdBy }
  return event('contact.created', contact, data, contact.createdAt)
}

/** Tells what was changed of a contact; to be blocked and to be unblocked are events of their own. */
export function changedEvent(contact: Contact, changes: readonly Change[], actor: Actor, at: Date): OutgoingEvent {
  const contactId = String(contact._id)
  const to = new Map(changes.map(change => [change.key, change.to]))
  if (to.get('blocked') === true) {
    const reason = to.get('blockedReason') as string | null | undefined
    return event('contact.blocked', contact, { contactId, ...(reason && { reason }), actor }, at)
  }
  if (to.get('blocked') === false) return event('contact.unblocked', contact, { contactId, actor }, at)
  return event('contact.updated', contact, { contactId, changed: [...to.keys()], actor }, at)
}

/** Tells that a contact is gone. */
export function deletedEvent(contact: Contact, actor: Actor, at: Date): OutgoingEvent {
  return event('contact.deleted', contact, { contactId: String(contact._id), email: contact.email, actor }, at)
}
