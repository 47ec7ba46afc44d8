const contexts = ['identity', 'audience', 'messaging', 'import'] as const

/** A bounded context that tells the others what happened in it. */
export type Context = (typeof contexts)[number]

/** The topic of a context's events, before any prefix. */
export type Topic = `${Context}.events`

/** The topics, one for each context. */
export const topics = Object.fromEntries(contexts.map(context => [context, `${context}.events`])) as {
  readonly [C in Context]: `${C}.events`
}

/** The context whose events a topic holds: nobody else's are taken from there. */
export const contextOf = (topic: Topic): Context => topic.slice(0, -'.events'.length) as Context

/** Where the events of a topic go that no consumer could handle. */
export const deadLetterTopic = <T extends string>(topic: T): `${T}.dlq` => `${topic}.dlq`
