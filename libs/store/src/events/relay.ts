import { randomUUID } from 'node:crypto'
import { type Event, type Logger, type Metrics, pause } from '@rollcall/runtime'
import type { Types } from 'mongoose'
import { createLease } from '../coordination/lease.ts'
import type { Store } from '../tenancy/connection.ts'
import { translateErrors } from '../tenancy/errors.ts'
import { committed, type OutboxEntry, onAddedEvents, outboxModel } from './outbox.ts'

/** Options of the outbox relay. */
export type RelayOptions = {
  store: Store
  /** Publishes events in order and resolves when they are stored durably. If it rejects, they are retried later. */
  publish: (events: Event[]) => Promise<void>
  logger: Logger
  metrics?: Metrics
  /** Polling interval while events come: those of that time are published together. Default: 200. */
  pollMs?: number
  /** Polling interval otherwise, for events of other replicas; those of this one wake the relay. Default: 5,000. */
  idlePollMs?: number
  /** Approximate number of events in a batch; entries are not split. Default: 500. */
  batchSize?: number
  /** Time without a heartbeat after which another replica takes over. Default: 10,000. */
  leaseMs?: number
}

/** Publishes the events of the outbox in order, at least once, on one replica at a time. */
export type Relay = {
  /** Publishes the remaining events, then stops. */
  stop(): Promise<void>
}

const FAILURE_WAIT_MS = 1000
/** Size at which a batch ends, far below the 100 MiB that a broker accepts in a request. */
const BATCH_CHARACTERS = 2 ** 23
/** Without events for this time, a relay leaves the next ones to whichever replica adds them. */
const ACTIVE_MS = 500
const ORDER = { at: 1, _id: 1 } as const

/** Starts publishing the events of the outbox. */
export function startRelay(options: RelayOptions): Relay {
  const { store, publish, logger, metrics, batchSize = 500, leaseMs = 10_000 } = options
  const { pollMs = 200, idlePollMs = 5000 } = options
  const outbox = outboxModel(store).collection
  const lease = createLease(store, 'outbox', randomUUID(), leaseMs)
  const sent = metrics?.counter({ name: 'rollcall_outbox_published_total', help: 'Events published from the outbox.' })
  const lag = metrics?.gauge({
    name: 'rollcall_outbox_lag_seconds',
    help: 'Age of the oldest unpublished event in seconds, as last seen by this replica.',
  })
  const stopping = new AbortController()
  let waiting = new AbortController()
  let activeUntil = 0

  const markSent = (ids: Types.ObjectId[]) =>
    translateErrors(outbox.updateMany({ _id: { $in: ids } }, { $set: { sentAt: new Date() } }))

  /** Looks at the oldest unsent event. Returns whether there is one, and this replica may publish it. */
  const mayPublish = async (): Promise<boolean> => {
    const oldest = await translateErrors(
      outbox.findOne<Pick<OutboxEntry, 'at'>>(
        { sentAt: null },
        { sort: ORDER, projection: { at: 1, _id: 0 }, ...committed },
      ),
    )
    noteLag(oldest)
    return oldest !== null && acquire()
  }

  const acquire = async (): Promise<boolean> => {
    const isHeld = await lease.acquire()
    if (isHeld) activeUntil = Date.now() + ACTIVE_MS
    return isHeld
  }

  const noteLag = (oldest: Pick<OutboxEntry, 'at'> | null | undefined) =>
    lag?.set(oldest ? (Date.now() - oldest.at) / 1000 : 0)

  /** Publishes all unsent events. Marks the previous batch and reads the next one concurrently. */
  const publishAll = async () => {
    const unsent = outbox.find<OutboxEntry>({ sentAt: null }, { sort: ORDER, batchSize, ...committed })
    let marked: Promise<unknown> = Promise.resolve()
    try {
      const batches = batchesOf(unsent, batchSize)
      for (let next = batches.next(); ; ) {
        const { value: batch } = await next
        noteLag(batch?.[0])
        if (!batch || !(await acquire())) return
        const events = batch.flatMap(({ event }) => event)
        const published = publish(events)
        next = batches.next()
        next.catch(() => undefined) // awaited later, unless publishing fails first
        await published
        sent?.inc(events.length)
        await marked
        marked = markSent(batch.map(({ _id }) => _id))
        marked.catch(() => undefined) // awaited before the next batch is marked, and at the end
      }
    } finally {
      await unsent.close().catch(() => undefined)
      await marked
    }
  }

  const drainOrWait = async () => {
    try {
      if (Date.now() < activeUntil || (await mayPublish())) await publishAll()
    } catch (error) {
      logger.warn({ err: error }, 'outbox publishing failed, retrying')
      await pause(FAILURE_WAIT_MS, stopping.signal)
      if (activeUntil > 0) activeUntil = Date.now() + ACTIVE_MS // it keeps the lease, and tries again at once
    }
  }

  const release = () => lease.release().catch(() => undefined) // it runs out by itself

  const run = async () => {
    while (!stopping.signal.aborted) {
      waiting = new AbortController()
      await drainOrWait()
      if (Date.now() < activeUntil) {
        await pause(pollMs, stopping.signal)
        continue
      }
      if (activeUntil > 0) await release()
      activeUntil = 0
      await pause(idlePollMs, AbortSignal.any([waiting.signal, stopping.signal]))
    }
    await drainOrWait()
    await release()
  }
  const forget = onAddedEvents(store.connection, () => waiting.abort())
  const ended = run()

  return {
    stop: () => {
      forget()
      stopping.abort()
      return ended
    },
  }
}

/** Groups entries into batches of at least `size` events, or of `BATCH_CHARACTERS`. */
async function* batchesOf(entries: AsyncIterable<OutboxEntry>, size: number): AsyncGenerator<OutboxEntry[], undefined> {
  let batch: OutboxEntry[] = []
  let events = 0
  let characters = 0
  for await (const entry of entries) {
    batch.push(entry)
    events += Array.isArray(entry.event) ? entry.event.length : 1
    characters += entry.characters ?? 0
    if (events < size && characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    events = 0
    characters = 0
  }
  if (batch.length > 0) yield batch
}
