import { AppError, type HttpBody, json } from '@rollcall/contract'
import { type Call, originOf } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { addEvents, groupWrites, objectId, untilReleased, type WriteGroup } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Data } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { deleteMembershipsOf } from '../lists/members.ts'
import { type Contact, contactPositions, publicContact, waitAnnouncer } from './contact.model.ts'
import { deletedEvent } from './contact-events.ts'
import { findContacts } from './find-contact.ts'
import { orRefusal, succeeded } from './refusal.ts'

/** A contact to be deleted, and by whom. */
type Deletion = { id: string; origin: Origin }
type Deleted = { contact: Contact; origin: Origin }

/**
 * Returns the function that deletes a contact and returns it as it was. Concurrent calls share a transaction, because all
 * of them release a position in the same list.
 */
export function contactDeleter(context: Data): (id: string, call: Call) => Promise<HttpBody> {
  const remove = groupWrites(context.store, deleteAll(context), { onWait: waitAnnouncer(context) })
  return async (id, call) => {
    const deletion = { id: String(objectId(id)), origin: originOf(call) }
    const { contact } = await remove(call.caller.organizationId, deletion, call)
    await untilReleased(context.collections.of(call.caller.organizationId).holds, [deletion.id])
    return json(publicContact(contact))
  }
}

function deleteAll(context: Data): WriteGroup<Deletion, Deleted> {
  return async (tx, deletions, organizationId) => {
    const { contacts } = context.collections.of(organizationId)
    await contactPositions(context, organizationId).lockMembership(tx)
    const found = await findContacts(contacts, deletions, tx)
    const results = deletions.map(deletion => orRefusal(() => take(deletion, found)))
    const deleted = results.filter(succeeded)
    if (deleted.length === 0) return results
    const gone = deleted.map(({ contact }) => contact)
    await deleteContacts(context, tx, organizationId, gone)
    const at = new Date()
    await addEvents(
      tx,
      deleted.map(({ contact, origin }) => deletedEvent(contact, origin, at)),
    )
    return results
  }
}

/**
 * Deletes contacts with their positions, memberships, emails and history. History is personal data, and reachable through
 * the contact only.
 * @param options `historyUntil`: emails and history expire then, so that an undo can restore the contacts
 */
export async function deleteContacts(
  context: Data,
  tx: ClientSession,
  organizationId: string,
  gone: readonly Contact[],
  { historyUntil }: { historyUntil?: Date } = {},
): Promise<void> {
  const tenant = context.collections.of(organizationId)
  const { contacts, history, emails } = tenant
  const at = new Date()
  const ids = gone.map(({ _id }) => _id)
  const freed = gone.map(({ position }) => position)
  await contacts.deleteMany({ _id: { $in: ids } }, { tx })
  const [ofHistory, ofEmails] = [{ person: { $in: ids } }, { contact: { $in: ids } }]
  const expiry = { $set: { expiresAt: historyUntil } }
  if (historyUntil) await history.updateMany(ofHistory, expiry, { tx })
  else await history.deleteMany(ofHistory, { tx })
  if (historyUntil) await emails.updateMany(ofEmails, expiry, { tx })
  else await emails.deleteMany(ofEmails, { tx })
  await contactPositions(context, organizationId).release(tx, freed)
  await countChanges(
    tenant,
    gone.map(before => ({ before, at })),
    tx,
  )
  await deleteMembershipsOf(context, tx, gone)
}

function take({ id, origin }: Deletion, found: Map<string, Contact>): Deleted {
  const contact = found.get(id)
  if (!contact) throw new AppError('contact.not_found')
  found.delete(id) // a second deletion in the group gets not_found
  return { contact, origin }
}
