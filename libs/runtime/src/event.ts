/**
 * Something that happened in one service and is told to the others: a CloudEvents 1.0 event.
 * The store keeps it in the outbox, the bus carries it; both know this shape and nothing of each other.
 */
export type Event<Data extends object = Record<string, unknown>> = {
  /** Unique; a consumer applies the effect of one id once. */
  id: string
  /** What happened, for example `token.created`. */
  type: string
  /** The service that says so, for example `identity`. */
  source: string
  /** Id of the aggregate it happened to. Events of one subject stay in order. */
  subject: string
  /** Id of the organization it belongs to. */
  organization: string
  /** When it happened, ISO 8601 in UTC. */
  time: string
  /** JSON data; its shape goes with the type. */
  data: Data
  /** The trace it belongs to (CloudEvents' Distributed Tracing extension), where it is traced. */
  traceparent?: string
}
