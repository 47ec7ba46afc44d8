import { checkReceived, contextOfEvent, type EventType, type Received } from '@rollcall/contract'
import type { Event, Logger } from '@rollcall/runtime'
import type { ConsumeOptions } from './bus.ts'
import { UnprocessableEvent } from './kafka/message.ts'
import { topics } from './topics.ts'

/** Notes which events were consumed; `Tx` is the database's transaction. */
export type Inbox<Tx> = {
  /** Runs the effect and notes the event, both in one transaction, unless this consumer had the event before. */
  consumeOnce(consumer: string, event: Event, effect: (tx: Tx) => Promise<void>): Promise<unknown>
}

/** What a handler gets beside the data of the event. */
export type EventScope<Tx> = {
  event: Event
  /** The effect is written in it: it is committed together with the note that the event was consumed. */
  tx: Tx
  /** Its lines carry the event. */
  logger: Logger
}

/** Handlers by the type of event. */
export type EventHandlers<Tx> = {
  [T in EventType]?: (data: Received<T>, scope: EventScope<Tx>) => Promise<void>
}

/** Consumes events of the types it names, each with its effect once. */
export type Subscription<Tx> = {
  /** Consumer group, and name in the inbox: `audience.on-user-events`. A renamed one consumes every event again. */
  name: string
  /** Its name in the inbox, where that is another. */
  inboxName?: string
  on: EventHandlers<Tx>
}

/** What a subscription consumes, and how. An event that is not as declared goes to the dead letters at once. */
export function consumptionOf<Tx>(
  { name, inboxName = name, on }: Subscription<Tx>,
  inbox: Inbox<Tx>,
): Pick<ConsumeOptions, 'group' | 'topics' | 'handle'> {
  const types = Object.keys(on) as EventType[]
  return {
    group: name,
    topics: [...new Set(types.map(type => topics[contextOfEvent(type)]))],
    handle: async (event, { logger }) => {
      const type = types.find(each => each === event.type)
      if (type === undefined) return
      refuseMalformed(type, event)
      const handle = on[type] as (data: object, scope: EventScope<Tx>) => Promise<void>
      await inbox.consumeOnce(inboxName, event, tx => handle(event.data, { event, tx, logger }))
    },
  }
}

function refuseMalformed(type: EventType, { source, data }: Event): void {
  if (source !== contextOfEvent(type)) throw new UnprocessableEvent(`${source} does not publish ${type}`)
  const fault = checkReceived(type, data)
  if (fault !== undefined) throw new UnprocessableEvent(`${type} is not as declared: ${fault}`)
}
