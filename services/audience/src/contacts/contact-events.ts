import { randomUUID } from 'node:crypto'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import type { Change } from './changes.ts'
import { type Contact, publicContact } from './contact.model.ts'

/** Tells that a contact was made. */
export function createdEvent(contact: Contact): Event {
  const data = { contact: publicContact(contact), actor: contact.createdBy }
  return eventOf(contact, 'contact.created', contact.createdAt, data)
}

/** Tells what was changed of a contact; to be blocked and to be unblocked are events of their own. */
export function changedEvent(contact: Contact, changes: readonly Change[], actor: Actor, at: Date): Event {
  const contactId = String(contact._id)
  const to = new Map(changes.map(change => [change.key, change.to]))
  if (to.get('blocked') === true) {
    const reason = to.get('blockedReason')
    return eventOf(contact, 'contact.blocked', at, { contactId, ...(reason ? { reason } : {}), actor })
  }
  if (to.get('blocked') === false) return eventOf(contact, 'contact.unblocked', at, { contactId, actor })
  return eventOf(contact, 'contact.updated', at, { contactId, changed: [...to.keys()], actor })
}

/** Tells that a contact is gone. */
export function deletedEvent(contact: Contact, actor: Actor, at: Date): Event {
  return eventOf(contact, 'contact.deleted', at, { contactId: String(contact._id), email: contact.email, actor })
}

function eventOf(contact: Contact, type: string, at: Date, data: Record<string, unknown>): Event {
  return {
    id: randomUUID(),
    type,
    source: 'audience',
    subject: String(contact._id),
    organization: String(contact.organization),
    time: at.toISOString(),
    data,
  }
}
