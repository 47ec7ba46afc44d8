import { checkReceived, contextOfEvent, type EventType, type Received } from '@rollcall/contract'
import { type Event, type Logger, type Origin, withOrigin } from '@rollcall/runtime'
import type { ConsumeOptions } from './bus.ts'
import { UnprocessableEvent } from './kafka/message.ts'
import { type Topic, topics } from './topics.ts'

/** Records which events were consumed; `Tx` is the database's transaction. */
export type Inbox<Tx> = {
  /** Runs the effect of those of the events that this consumer has not had, and records them, in one transaction. */
  consumeOnce<E extends Event>(
    consumer: string,
    events: readonly E[],
    effect: (tx: Tx, events: readonly E[]) => Promise<void>,
  ): Promise<unknown>
}

/** What a handler gets besides the data of the event. */
export type EventScope<Tx> = {
  event: Event
  /** The transaction for the effect; it also records that the event was consumed. */
  tx: Tx
  /** Logs with the event's fields. */
  logger: Logger
}

/** Handlers by event type. */
export type EventHandlers<Tx> = {
  [T in EventType]?: (data: Received<T>, scope: EventScope<Tx>) => Promise<void>
}

/** A consumer of the event types it has handlers for; it applies each event once. */
export type Subscription<Tx> = {
  /**
   * Consumer group and name in the inbox: `audience.on-user-events`. Under a new name it consumes every event again.
   */
  name: string
  /** Its name in the inbox, if different. */
  inboxName?: string
  /** Events that have no effect, although there is a handler for their type: they cost no transaction. */
  ignores?: (event: Event) => boolean
  on: EventHandlers<Tx>
}

/** An event of one of some types. */
export type DigestedEvent<T extends EventType = EventType> = {
  [K in T]: Omit<Event, 'type' | 'data'> & { type: K; data: Received<K> }
}[T]

/**
 * A consumer of many events at once: it applies each once, and those of one organization that arrived together in one
 * transaction. For types with so many events that one by one would take too long.
 */
export type Digest<Tx, T extends EventType = EventType> = Pick<Subscription<Tx>, 'name' | 'ignores'> & {
  types: readonly T[]
  /** Applies events of one organization, at least one, in their order. */
  apply(events: readonly DigestedEvent<T>[], scope: { organization: string; tx: Tx }): Promise<void>
}

/** A consumer of every event, also of types that a later version publishes. It may get an event again. */
export type Feed = {
  /** Consumer group. */
  name: string
  /** Handles events of several organizations. Its effect must be idempotent, because no inbox records it. */
  every(events: readonly Event[]): Promise<void>
}

/** How many events a feed or a digest gets at once, at most. */
const TOGETHER = 100

/**
 * Returns the consume options of a consumer. An event that does not match its declaration is dead-lettered at once.
 */
export function consumptionOf<Tx>(consumer: Subscription<Tx> | Digest<Tx> | Feed, inbox: Inbox<Tx>): Consumption {
  if ('every' in consumer) return ofFeed(consumer)
  return 'apply' in consumer ? ofDigest(consumer, inbox) : ofSubscription(consumer, inbox)
}

type Consumption = Pick<ConsumeOptions, 'group' | 'topics' | 'handle' | 'together'>

function ofFeed({ name, every }: Feed): Consumption {
  return {
    group: name,
    topics: Object.values(topics),
    handle: event => every([event]),
    together: { most: TOGETHER, handle: events => every(events) },
  }
}

function ofDigest<Tx>({ name, types, ignores, apply }: Digest<Tx>, inbox: Inbox<Tx>): Consumption {
  const consume = async (received: readonly Event[]) => {
    const events = received.filter(event => isOneOf(types, event) && !ignores?.(event)) as DigestedEvent[]
    const byCause = Map.groupBy(events, ({ organization, origin }) => JSON.stringify([organization, origin]))
    for (const alike of byCause.values()) {
      const { organization, origin } = alike[0]!
      await onBehalfOf(origin, () => inbox.consumeOnce(name, alike, (tx, fresh) => apply(fresh, { organization, tx })))
    }
  }
  return {
    group: name,
    topics: topicsOf(types),
    handle: event => consume([event]),
    together: { most: TOGETHER, handle: consume },
  }
}

function ofSubscription<Tx>(subscription: Subscription<Tx>, inbox: Inbox<Tx>): Consumption {
  const { name, inboxName = name, ignores, on } = subscription
  const types = Object.keys(on) as EventType[]
  return {
    group: name,
    topics: topicsOf(types),
    handle: async (event, { logger }) => {
      if (!isOneOf(types, event) || ignores?.(event)) return
      const handle = on[event.type] as (data: object, scope: EventScope<Tx>) => Promise<void>
      await onBehalfOf(event.origin, () =>
        inbox.consumeOnce(inboxName, [event], tx => handle(event.data, { event, tx, logger })),
      )
    },
  }
}

function topicsOf(types: readonly EventType[]): Topic[] {
  return [...new Set(types.map(type => topics[contextOfEvent(type)]))]
}

/** Whether an event is of one of the types. @throws {UnprocessableEvent} if it is, but not as declared */
function isOneOf(types: readonly EventType[], event: Event): event is Event & { type: EventType } {
  const type = types.find(each => each === event.type)
  if (type !== undefined) rejectMalformed(type, event)
  return type !== undefined
}

/** Runs a task whose effects belong to the request that caused its events. */
async function onBehalfOf(origin: Origin | undefined, run: () => Promise<unknown>): Promise<void> {
  await (origin ? withOrigin(() => origin, run) : run())
}

function rejectMalformed(type: EventType, { source, data }: Event): void {
  if (source !== contextOfEvent(type)) throw new UnprocessableEvent(`${source} does not publish ${type}`)
  const fault = checkReceived(type, data)
  if (fault !== undefined) throw new UnprocessableEvent(`${type} is not as declared: ${fault}`)
}
