import type { Events } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { event, type OutgoingEvent } from '@rollcall/store'
import type { Change } from './changes.ts'
import { type Contact, publicContact } from './contact.model.ts'

/** Returns the event of a contact that was created. */
export function createdEvent(contact: Contact, origin: Origin): OutgoingEvent {
  const data = { contact: publicContact(contact), actor: contact.createdBy }
  return event('contact.created', contact, data, contact.createdAt, origin)
}

/** Returns the event of a changed contact; blocking and unblocking have their own events. */
export function changedEvent(
  contact: Contact,
  changes: readonly Change[],
  actor: Actor,
  at: Date,
  origin?: Origin,
): OutgoingEvent {
  const contactId = String(contact._id)
  const to = new Map(changes.map(change => [change.key, change.to]))
  if (to.get('blocked') === true) {
    const reason = to.get('blockedReason') as string | null | undefined
    return event('contact.blocked', contact, { contactId, ...(reason && { reason }), actor }, at, origin)
  }
  if (to.get('blocked') === false) return event('contact.unblocked', contact, { contactId, actor }, at, origin)
  const values = Object.fromEntries(changes.map(({ key, from, to }) => [key, { from: from ?? null, to }]))
  const data = { contactId, changed: [...to.keys()], changes: values, actor }
  return event('contact.updated', contact, data, at, origin)
}

/** How a contact was opted out, and the message whose link was used or that was complained of. */
export type OptOut = { how: Events['contact.unsubscribed']['how']; emailId?: string }

/** Returns the event of a contact that gets no more campaigns. It follows that of the change. */
export function unsubscribedEvent(
  contact: Contact,
  optOut: OptOut,
  actor: Actor,
  at: Date,
  origin?: Origin,
): OutgoingEvent {
  const data = { contactId: String(contact._id), ...optOut, actor }
  return event('contact.unsubscribed', contact, data, at, origin)
}

/** Returns the event of a deleted contact. */
export function deletedEvent(contact: Contact, origin: Origin, at: Date): OutgoingEvent {
  const data = { contactId: String(contact._id), email: contact.email, actor: origin.actor }
  return event('contact.deleted', contact, data, at, origin)
}
