import { type ClientSession, Schema } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate, translateErrors } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'

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
   * Applies the effect of events exactly once. The effect and the ids of the events are stored in one transaction.
   * @param consumer name of the consumer; each consumer applies an event independently
   * @param effect gets the events that this consumer has not applied before
   * @returns how many were applied now
   */
  consumeOnce<E extends { id: string }>(
    consumer: string,
    events: readonly E[],
    effect: (tx: ClientSession, events: readonly E[]) => Promise<void>,
  ): Promise<number>
}

/** Creates the inbox of a service's database. */
export function createInbox(store: Store): Inbox {
  const inbox = inboxModel(store).collection

  const note = (ids: readonly string[], tx: ClientSession) => {
    const entries = ids.map(_id => ({ _id, at: new Date() }) as never)
    return translateErrors(inbox.insertMany(entries, { session: tx })).catch(error => {
      throw isDuplicate(error) ? new AlreadyConsumed() : error
    })
  }

  /** Returns which of the ids are noted, and will remain so. */
  const noted = async (ids: readonly string[]): Promise<Set<string>> => {
    const options = { projection: { _id: 1 }, readConcern: 'majority', maxTimeMS: READ_MS } as const
    const entries = await translateErrors(inbox.find({ _id: { $in: ids } as never }, options).toArray())
    return new Set(entries.map(({ _id }) => String(_id)))
  }

  return {
    consumeOnce: async (consumer, events, effect) => {
      let left = new Map(events.map(event => [`${consumer}:${event.id}`, event]))
      while (left.size > 0) {
        try {
          await store.transaction(async tx => {
            await note([...left.keys()], tx)
            await effect(tx, [...left.values()])
          })
          return left.size
        } catch (error) {
          if (!(error instanceof AlreadyConsumed)) throw error
          const applied = await noted([...left.keys()])
          left = new Map([...left].filter(([id]) => !applied.has(id)))
        }
      }
      return 0
    },
  }
}
