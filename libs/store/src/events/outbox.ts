import { type Event, traceCarrier } from '@rollcall/runtime'
import { type ClientSession, Schema, type Types } from 'mongoose'
import { connectionOf, type Store } from '../tenancy/connection.ts'
import { translateErrors } from '../tenancy/errors.ts'
import { type OutgoingEvent, serialized } from './event.ts'

/** What one transaction tells, on its way out. */
export type OutboxEntry = {
  _id: Types.ObjectId
  /** Order in which entries leave: milliseconds since 1970, never falling within a process. */
  at: number
  /** One event, or several in their order: an entry costs the same. */
  event: Event | Event[]
  /** Null until it was published; then it stays a while to be looked at. */
  sentAt: Date | null
}

const SENT_KEPT_SECONDS = 24 * 3600
/** Events in an entry at most: far from the 16 MiB a document may have. */
const ENTRY_SIZE = 500

const outboxSchema = new Schema<OutboxEntry>(
  {
    at: { type: Number, required: true },
    event: { type: Schema.Types.Mixed, required: true },
    sentAt: { type: Date, default: null },
  },
  { collection: 'outbox', versionKey: false, minimize: false },
)
outboxSchema.index({ sentAt: 1, at: 1, _id: 1 })
outboxSchema.index({ sentAt: 1 }, { name: 'sent_expiry', expireAfterSeconds: SENT_KEPT_SECONDS })

/** Declares the collection of the outbox, for `migrate`. */
export const outboxModel = (store: Pick<Store, 'model'>) => store.model('OutboxEntry', outboxSchema)

let latest = 0

/**
 * Adds events to the outbox in the transaction of the change they tell of: both are there, or neither. Call it after the
 * changes themselves: events of one subject then leave in the order of its changes, whichever replica made them.
 * Throws where the data of one is not as declared.
 */
export async function addEvents(tx: ClientSession, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return
  latest = Math.max(latest, Date.now())
  const { traceparent } = traceCarrier()
  const trace = traceparent === undefined ? {} : { traceparent }
  const told: Event[] = events.map(event => ({ ...serialized(event), ...trace }))
  const entries: Omit<OutboxEntry, '_id'>[] = []
  for (let from = 0; from < told.length; from += ENTRY_SIZE) {
    const [first, ...others] = told.slice(from, from + ENTRY_SIZE)
    entries.push({ at: latest, event: others.length > 0 ? [first!, ...others] : first!, sentAt: null })
  }
  await translateErrors(connectionOf(tx).collection('outbox').insertMany(entries, { session: tx, ordered: true }))
}
