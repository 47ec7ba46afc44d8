import type { Actor } from '@rollcall/rpc'
import { event, type OutgoingEvent } from '@rollcall/store'
import type { Change } from './changes.ts'
import { type Contact, publicContact } from './contact.model.ts'

/** Returns the event of a contact that was created. */
export function createdEvent(contact: Contact): OutgoingEvent {
  const data = { contact: publicContact(contact), actor: contact.createdBy }
  return event('contact.created', contact, data, contact.createdAt)
}

/** Returns the event of a changed contact; blocking and unblocking have their own events. */
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

/** Returns the event of a deleted contact. */
export function deletedEvent(contact: Contact, actor: Actor, at: Date): OutgoingEvent {
  return event('contact.deleted', contact, { contactId: String(contact._id), email: contact.email, actor }, at)
}
