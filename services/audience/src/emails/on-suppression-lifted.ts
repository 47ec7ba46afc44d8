import type { Subscription } from '@rollcall/bus'
import { emailKeyOf } from '@rollcall/contract'
import { addEvents } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { contactPositions } from '../contacts/contact.model.ts'
import { changedEvent } from '../contacts/contact-events.ts'
import type { Data } from '../context.ts'
import { changeEntry } from '../history/history.model.ts'

/** Forgets what is known of a contact's address when its suppression is lifted: the next mail will tell. */
export function onSuppressionLifted(data: Data): Subscription<ClientSession> {
  return {
    name: 'audience.on-suppression-lifted',
    on: {
      'suppression.deleted': async ({ suppression: { email }, actor }, { event: { organization, time }, tx }) => {
        if (email === undefined) return
        const { contacts, history } = data.collections.of(organization)
        const emailKey = emailKeyOf(email)
        const contact = await contacts.findOne({ emailKey, emailStatus: { $in: ['bounced', 'complained'] } }, { tx })
        if (!contact) return
        const at = new Date(time)
        const changes = [{ key: 'emailStatus', from: contact.emailStatus, to: 'unknown' }]
        await contacts.updateOne({ _id: contact._id }, { $set: { emailStatus: 'unknown' } }, { tx })
        await contactPositions(data, organization).invalidate(tx, [contact.position])
        await history.insertOne(changeEntry(contact, 'contact.updated', at, actor, { changes }), { tx })
        await addEvents(tx, [changedEvent(contact, changes, actor, at)])
      },
    },
  }
}
