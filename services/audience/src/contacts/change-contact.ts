import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, type Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { type Context, insertOf } from '../context.ts'
import type { ChangeType } from '../history/history.model.ts'
import { type ContactUpdate, changesOf, type Patch, updateOf } from './changes.ts'
import type { Contact } from './contact.model.ts'
import { changedEvent } from './contact-events.ts'
import { findContact } from './find-contact.ts'

/**
 * Changes a contact: the record, its history entry and the event in one transaction. What stays the same leaves no trace.
 * @param patchOf what the contact is to be; may read in the session
 */
export async function changeContact(
  context: Context,
  { caller }: Call,
  id: string,
  type: ChangeType,
  patchOf: (session: ClientSession) => Patch | Promise<Patch>,
): Promise<Updated> {
  const { contacts, history } = context.of(caller)
  const actor = actorOf(caller)
  await context.store.transaction(async session => {
    const contact = await findContact(contacts, id, session)
    const changes = changesOf(contact, await patchOf(session))
    if (changes.length === 0) return
    const at = new Date()
    await write(contacts, contact, updateOf(contact, changes, at), session)
    await history.insertOne({ contact: contact._id, type, at, actor, data: { changes } }, { session })
    await addEvents(session, [changedEvent(contact, changes, actor, at)])
  })
  return { success: true, message: 'updated' }
}

async function write(contacts: Scope<Contact>, contact: Contact, update: ContactUpdate, session: ClientSession) {
  const filter = { _id: contact._id }
  if (!('emailKey' in update.$set)) return contacts.updateOne(filter, update, { session })
  // An email given up must be free for others at once: not every server frees a unique key when a record is updated.
  await contacts.deleteOne(filter, { session })
  return contacts.bulkWrite([insertOf({ ...contact, ...update.$set })], { session })
}
