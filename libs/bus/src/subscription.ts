import { checkReceived, contextOfEvent, type EventType, type Received } from '@rollcall/contract'
import { type Event, type Logger, withOrigin } from '@rollcall/runtime'
import type { ConsumeOptions } from './bus.ts'
import { UnprocessableEvent } from './kafka/message.ts'
import { topics } from './topics.ts'

/** Records which events were consumed; `Tx` is the database's transaction. */
export type Inbox<Tx> = {
  /** Runs the effect and records the event in one transaction, unless this consumer already had the event. */
  consumeOnce(consumer: string, event: Event, effect: (tx: Tx) => Promise<void>): Promise<unknown>
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

/** A consumer of every event, also of types that a later version publishes. It may get an event again. */
export type Feed = {
  /** Consumer group. */
  name: string
  /** Handles one event. Its effect must be idempotent, because no inbox records it. */
  every(event: Event, scope: { logger: Logger }): Promise<void>
}

/**
 * Returns the consume options of a subscription or a feed. An event that does not match its declaration is dead-lettered at once.
 */
export function consumptionOf<Tx>(
  consumer: Subscription<Tx> | Feed,
  inbox: Inbox<Tx>,
): Pick<ConsumeOptions, 'group' | 'topics' | 'handle'> {
  if ('every' in consumer)
    return {
      group: consumer.name,
      topics: Object.values(topics),
      handle: (event, scope) => consumer.every(event, scope),
    }
  const { name, inboxName = name, ignores, on } = consumer
  const types = Object.keys(on) as EventType[]
  return {
    group: name,
    topics: [...new Set(types.map(type => topics[contextOfEvent(type)]))],
    handle: async (event, { logger }) => {
      const type = types.find(each => each === event.type)
      if (type === undefined) return
      rejectMalformed(type, event)
      if (ignores?.(event)) return
      const handle = on[type] as (data: object, scope: EventScope<Tx>) => Promise<void>
      const { origin } = event
      const consume = () => inbox.consumeOnce(inboxName, event, tx => handle(event.data, { event, tx, logger }))
      await (origin ? withOrigin(() => origin, consume) : consume()) // effects belong to the same request
    },
  }
}

function rejectMalformed(type: EventType, { source, data }: Event): void {
  if (source !== contextOfEvent(type)) throw new UnprocessableEvent(`${source} does not publish ${type}`)
  const fault = checkReceived(type, data)
  if (fault !== undefined) throw new UnprocessableEvent(`${type} is not as declared: ${fault}`)
}
