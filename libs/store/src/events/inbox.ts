import { type ClientSession, Schema } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate, mapped } from '../tenancy/errors.ts'

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

/**
 * Applies the effect of an event once, however often it is delivered: the effect and the event's id are one transaction.
 * @param consumer who consumes it; each consumer applies an event for itself
 * @returns whether it was applied now; false where it had been before
 */
export async function consumeOnce(
  store: Store,
  consumer: string,
  event: { id: string },
  effect: (session: ClientSession) => Promise<void>,
): Promise<boolean> {
  const inbox = inboxModel(store).collection
  try {
    await store.transaction(async session => {
      const entry = { _id: `${consumer}:${event.id}`, at: new Date() } as never
      await mapped(inbox.insertOne(entry, { session })).catch(error => {
        throw isDuplicate(error) ? new AlreadyConsumed() : error
      })
      await effect(session)
    })
    return true
  } catch (error) {
    if (error instanceof AlreadyConsumed) return false
    throw error
  }
}
