import type { Origin } from './origin.ts'

/**
 * A CloudEvents 1.0 event that one service publishes to the others.
 * The store keeps it in the outbox and the bus sends it; they share only this type.
 */
export type Event<Data extends object = Record<string, unknown>> = {
  /** Unique; a consumer applies each id once. */
  id: string
  /** What happened, for example `token.created`. */
  type: string
  /** The service that publishes it, for example `identity`. */
  source: string
  /** Id of the aggregate that changed. Events of one subject stay in order. */
  subject: string
  /** Id of the organization it belongs to. */
  organization: string
  /** When it happened, ISO 8601 in UTC. */
  time: string
  /** JSON data; its shape depends on `type`. */
  data: Data
  /** The trace it belongs to, if any (CloudEvents' Distributed Tracing extension). */
  traceparent?: string
  /** The request that caused it; absent if a service acted on its own (extension attributes of ours). */
  origin?: Origin
}
