import { type EventContext, eventPublishers } from '@rollcall/contract'

/** The topic of a service's events, before any prefix. */
export type Topic = `${EventContext}.events`

/** The topics, one for each service that publishes events. */
export const topics = Object.fromEntries(eventPublishers.map(context => [context, `${context}.events`])) as {
  readonly [C in EventContext]: `${C}.events`
}

/** The service whose events a topic holds: nobody else's are taken from there. */
export const contextOf = (topic: Topic): EventContext => topic.slice(0, -'.events'.length) as EventContext

/** Where the events of a topic go that no consumer could handle. */
export const deadLetterTopic = <T extends string>(topic: T): `${T}.dlq` => `${topic}.dlq`
