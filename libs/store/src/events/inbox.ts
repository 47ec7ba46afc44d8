import { type ClientSession, Schema } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate, translateErrors } from '../tenancy/errors.ts'

type InboxEntry = { _id: string; at: Date }

/** Longer than any event can still be delivered again, from a topic or from its dead letters. */
const KEPT_SECONDS = 45 * 24 * 3600

const inboxSchema = new Schema<InboxEntry>(
  { _id: { type: String, required: true }, at: { type: Date, required: true } },
  { collection: 'inbox', versionKey: false },
)
inboxSchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS })

/** Declares the collection of the inbox, for `migrate`. */
export const inboxModel = (store: Pick<Store, 'model'>) => store.model('InboxEntry', inboxSchema)

class AlreadyConsumed extends Error {}

/** Notes which events a service has consumed. */
export type Inbox = {
  /**
   * Applies the effect of an event once, however often it is delivered: the effect and the event's id are one transaction.
   * @param consumer who consumes it; each consumer applies an event for itself
   * @returns whether it was applied now; false where it had been before
   */
  consumeOnce(consumer: string, event: { id: string }, effect: (tx: ClientSession) => Promise<void>): Promise<boolean>
}

/** The inbox of a service's database. */
export function createInbox(store: Store): Inbox {
  const inbox = inboxModel(store).collection

  const note = (id: string, tx: ClientSession) =>
    translateErrors(inbox.insertOne({ _id: id, at: new Date() } as never, { session: tx })).catch(error => {
      throw isDuplicate(error) ? new AlreadyConsumed() : error
    })

  return {
    consumeOnce: async (consumer, { id }, effect) => {
      try {
        await store.transaction(async session => {
          await note(`${consumer}:${id}`, session)
          await effect(session)
        })
        return true
      } catch (error) {
        if (error instanceof AlreadyConsumed) return false
        throw error
      }
    },
  }
}
