import { type ClientSession, Schema } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate, translateErrors } from '../tenancy/errors.ts'

type InboxEntry = { _id: string; at: Date }

/** Retention, longer than an event can be redelivered from a topic or its dead letters. */
const KEPT_SECONDS = 45 * 24 * 3600

const inboxSchema = new Schema<InboxEntry>(
  { _id: { type: String, required: true }, at: { type: Date, required: true } },
  { collection: 'inbox', versionKey: false },
)
inboxSchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS })

/** Declares the collection of the inbox, for `migrate`. */
export function inboxModel(store: Pick<Store, 'model'>) {
  return store.model('InboxEntry', inboxSchema)
}

class AlreadyConsumed extends Error {}

/** Records the consumed events of a service. */
export type Inbox = {
  /**
   * Applies the effect of an event exactly once. The effect and the event's id are stored in one transaction.
   * @param consumer name of the consumer; each consumer applies an event independently
   * @returns whether it was applied now; false for a redelivery
   */
  consumeOnce(consumer: string, event: { id: string }, effect: (tx: ClientSession) => Promise<void>): Promise<boolean>
}

/** Creates the inbox of a service's database. */
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
