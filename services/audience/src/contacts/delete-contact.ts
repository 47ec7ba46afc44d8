import { actorOf, type Call, type HttpBody, json } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import type { Context } from '../context.ts'
import { publicContact } from './contact.model.ts'
import { deletedEvent } from './contact-events.ts'
import { contactPositions } from './contact-positions.ts'
import { findContact } from './find-contact.ts'

/** Deletes a contact with its history, which is about a person and reached through the contact alone; answers it as it was. */
export async function deleteContact(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const { contacts, history } = context.of(caller)
  const contact = await context.store.transaction(
    async session => {
      const found = await findContact(contacts, id, session)
      await contacts.deleteOne({ _id: found._id }, { session })
      await history.deleteMany({ contact: found._id }, { session })
      await contactPositions(context, caller.organizationId).release(session, [found.position])
      await addEvents(session, [deletedEvent(found, actorOf(caller), new Date())])
      return found
    },
    { queue: caller.organizationId },
  )
  return json(publicContact(contact))
}
