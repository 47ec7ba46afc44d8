import { type EventContext, eventPublishers } from '@rollcall/contract'

/** The topic of a service's events, before any prefix. */
export type Topic = `${EventContext}.events`

/** The topics, one per service that publishes events. */
export const topics = Object.fromEntries(eventPublishers.map(context => [context, `${context}.events`])) as {
  readonly [C in EventContext]: `${C}.events`
}

/**
 * Largest message of a topic: an event can name the old and the new value of everything in a request body of 1 MiB. The
 * outbox accepts no larger event (`DATA_BYTES`).
 */
export const MESSAGE_BYTES = 8 * 2 ** 20

/** Returns the service that owns a topic. Events of other services on it are rejected. */
export function contextOf(topic: Topic): EventContext {
  return topic.slice(0, -'.events'.length) as EventContext
}

/** Returns the dead-letter topic of a topic. */
export function deadLetterTopic<T extends string>(topic: T): `${T}.dlq` {
  return `${topic}.dlq`
}
