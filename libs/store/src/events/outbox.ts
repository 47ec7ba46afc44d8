import { AppError } from '@rollcall/contract'
import { type Event, pause, traceCarrier } from '@rollcall/runtime'
import { type ClientSession, type Connection, Schema, type Types } from 'mongoose'
import { afterCommit, connectionOf, type Store } from '../tenancy/connection.ts'
import { translateErrors } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { type OutgoingEvent, serialized } from './event.ts'

/** Events of one transaction to publish. */
export type OutboxEntry = {
  _id: Types.ObjectId
  /** Publishing order: milliseconds since 1970, monotonic within a process. */
  at: number
  /** One event, or several in order, since an entry costs the same. */
  event: Event | Event[]
  /** Length of the data of the events as JSON. Missing in entries of earlier releases. */
  characters?: number
  /** Null until published. Published entries are kept for a day for inspection. */
  sentAt: Date | null
}

const SENT_KEPT_SECONDS = 24 * 3600
/** How entries are read: one of a change that a failover rolls back must not be published. */
export const committed = { readConcern: { level: 'majority' }, maxTimeMS: READ_MS } as const
/** Maximum of an entry: events, and characters of their data, far below the document limit of 16 MiB. */
const ENTRY_EVENTS = 500
const ENTRY_CHARACTERS = 2 ** 21

const outboxSchema = new Schema<OutboxEntry>(
  {
    at: { type: Number, required: true },
    event: { type: Schema.Types.Mixed, required: true },
    characters: { type: Number },
    sentAt: { type: Date, default: null },
  },
  { collection: 'outbox', versionKey: false, minimize: false },
)
outboxSchema.index({ sentAt: 1, at: 1, _id: 1 })
outboxSchema.index({ sentAt: 1 }, { name: 'sent_expiry', expireAfterSeconds: SENT_KEPT_SECONDS })

/** Declares the collection of the outbox, for `migrate`. */
export function outboxModel(store: Pick<Store, 'model'>) {
  return store.model('OutboxEntry', outboxSchema)
}

let latest = 0

/**
 * Adds events to the outbox in the transaction of their change. Call it after the changes: events of one subject are then
 * published in the order of its changes, across replicas.
 * @throws {Error} if the data of an event is not as declared, or too large to be published
 */
export async function addEvents(tx: ClientSession, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return
  latest = Math.max(latest, Date.now())
  const { traceparent } = traceCarrier()
  const trace = traceparent === undefined ? {} : { traceparent }
  const groups: { events: Event[]; characters: number }[] = []
  for (const each of events) {
    const { event, characters } = serialized(each)
    let group = groups.at(-1)
    if (!group || group.characters + characters > ENTRY_CHARACTERS || group.events.length === ENTRY_EVENTS) {
      group = { events: [], characters: 0 }
      groups.push(group)
    }
    group.events.push({ ...event, ...trace })
    group.characters += characters
  }
  const entries = groups.map(
    ({ events: [first, ...others], characters }): Omit<OutboxEntry, '_id'> => ({
      at: latest,
      event: others.length > 0 ? [first!, ...others] : first!,
      characters,
      sentAt: null,
    }),
  )
  const connection = connectionOf(tx)
  for (const notify of listeners.get(connection) ?? []) afterCommit(tx, notify)
  await translateErrors(connection.collection('outbox').insertMany(entries, { session: tx, ordered: true }))
}

const listeners = new WeakMap<Connection, Set<() => void>>()

/** Calls `notify` after each commit on this connection that added events. Returns a function that ends it. */
export function onAddedEvents(connection: Connection, notify: () => void): () => void {
  const known = listeners.get(connection) ?? new Set()
  listeners.set(connection, known.add(notify))
  return () => known.delete(notify)
}

const PUBLISH_POLL_MS = 50

/**
 * Deletes the published events of an organization, as part of erasing a person. First waits until those that were added
 * before are published, since they are the last that can name the person.
 * @throws {AppError} service.unavailable if they are not published when the signal fires
 */
export async function eraseSentEvents(store: Store, organization: string, signal: AbortSignal): Promise<void> {
  const outbox = outboxModel(store).collection
  const before = { at: { $lte: Date.now() }, 'event.organization': organization }
  const isWaiting = () =>
    translateErrors(outbox.findOne({ sentAt: null, ...before } as never, { projection: { _id: 1 }, ...committed }))
  while (await isWaiting()) {
    if (signal.aborted)
      throw new AppError('service.unavailable', {}, { cause: new Error('events wait to be published') })
    await pause(PUBLISH_POLL_MS, signal)
  }
  await translateErrors(outbox.deleteMany({ sentAt: { $ne: null }, ...before } as never))
}
