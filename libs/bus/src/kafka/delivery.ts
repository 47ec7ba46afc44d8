import { backoffMs, type Event, type Logger, traced } from '@rollcall/runtime'
import type { KafkaMessage } from 'kafkajs'
import { isDependencyFailure } from './dependency-failure.ts'
import { fromMessage, UnprocessableEvent } from './message.ts'

/** What a handler gets besides the event. */
export type HandleContext = {
  /** 1 for the first delivery of this event to this consumer; increments with each failure. */
  attempt: number
  /** Fires when the consumer stops. If the handler then rejects, the event is delivered again later. */
  signal: AbortSignal
  /** Logs with the event's fields. */
  logger: Logger
}

/** Handles one event, possibly more than once. Resolving acknowledges it; rejecting causes a redelivery. */
export type Handle = (event: Event, context: HandleContext) => Promise<void>

/** Handles consecutive events of a partition at once. Rejecting causes each to be handled by itself. */
export type Together = {
  /** How many events at most. */
  most: number
  handle: (events: readonly Event[], context: { logger: Logger }) => Promise<void>
}

/** Stores a dead letter. If it rejects, the event is delivered again. */
export type WriteDeadLetter = (deadLetter: DeadLetter) => Promise<void>

/** An event that could not be handled, with the error. */
export type DeadLetter = { topic: string; partition: number; message: KafkaMessage; error: Error; attempts: number }

/** Options of `createDelivery`. Times in milliseconds. */
export type DeliveryOptions = {
  group: string
  handle: Handle
  together?: Together
  /** The required source of events of a topic. */
  sourceOf: (topic: string) => string
  writeDeadLetter: WriteDeadLetter
  logger: Logger
  /** Deliveries of a failing event before it is dead-lettered. Failures of a dependency do not count. */
  attempts: number
  backoffBaseMs: number
  backoffMaxMs: number
  /** Fires when the consumer stops. */
  stopping: AbortSignal
}

/** Outcomes of a delivery; a failed one is retried. */
export const outcomes = ['handled', 'failed', 'dead'] as const
export type Outcome = (typeof outcomes)[number]

/** The result of a delivery. After a failure, wait `waitMs` before the next delivery of the message. */
export type Delivery = { outcome: 'handled' | 'dead' } | { outcome: 'failed'; waitMs: number }

/** Failures of the event that blocks a partition; `faults` are those that count as attempts. */
type Failure = { offset: string; deliveries: number; faults: number }

/** Delivers the messages of partitions. */
export type Deliver = {
  /** Delivers a message to the handler. Counts, per partition, the failures of its current message. */
  one(topic: string, partition: number, message: KafkaMessage): Promise<Delivery>
  /** Delivers messages at once, and returns whether all were handled: if not, deliver each by itself. */
  all(topic: string, partition: number, messages: readonly KafkaMessage[]): Promise<boolean>
}

/** Creates the delivery of a consumer. */
export function createDelivery(options: DeliveryOptions): Deliver {
  const { group, logger, stopping, together } = options
  const failures = new Map<string, Failure>()

  const read = (topic: string, message: KafkaMessage): Event => {
    const event = fromMessage(message)
    const source = options.sourceOf(topic)
    if (event.source !== source) throw new UnprocessableEvent(`source is ${event.source}, expected ${source}`)
    return event
  }

  const handle = (topic: string, message: KafkaMessage, attempt: number, eventLogger: Logger): Promise<void> => {
    const event = read(topic, message)
    const { id, type, organization, traceparent } = event
    const from = traceparent === undefined ? {} : { traceparent }
    return traced(`${group} ${type}`, { kind: 'consumer', from }, () =>
      options.handle(event, {
        attempt,
        signal: stopping,
        logger: eventLogger.child({ event: id, type, organization }),
      }),
    )
  }

  const moveToDeadLetters = async (deadLetter: DeadLetter, eventLogger: Logger): Promise<boolean> => {
    if (stopping.aborted) return false // the stop may be the cause of the failure
    try {
      await options.writeDeadLetter(deadLetter)
      eventLogger.error({ err: deadLetter.error }, 'event failed, moved to the dead letters')
      return true
    } catch (err) {
      eventLogger.warn({ err }, 'dead letter not written, retrying')
      return false
    }
  }

  const one: Deliver['one'] = async (topic, partition, message) => {
    const key = `${topic}/${partition}`
    const { offset } = message
    const known = failures.get(key)
    const failure = known?.offset === offset ? known : { offset, deliveries: 0, faults: 0 }
    const attempt = ++failure.deliveries
    const eventLogger = logger.child({ group, topic, partition, offset, attempt })
    try {
      await handle(topic, message, attempt, eventLogger)
      failures.delete(key)
      return { outcome: 'handled' }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      failures.set(key, failure)
      if (!isDependencyFailure(error)) failure.faults++
      const isFinal = error instanceof UnprocessableEvent || failure.faults >= options.attempts
      if (isFinal && (await moveToDeadLetters({ topic, partition, message, error, attempts: attempt }, eventLogger))) {
        failures.delete(key)
        return { outcome: 'dead' }
      }
      const waitMs = backoffMs(attempt, { baseMs: options.backoffBaseMs, maxMs: options.backoffMaxMs })
      eventLogger.warn({ err: error, waitMs }, 'event failed, retrying')
      return { outcome: 'failed', waitMs }
    }
  }
  const all: Deliver['all'] = async (topic, partition, messages) => {
    if (!together || failures.has(`${topic}/${partition}`)) return false // one of these has failed: find out which
    const groupLogger = logger.child({ group, topic, partition, offset: messages[0]?.offset, events: messages.length })
    try {
      const events = messages.map(message => read(topic, message))
      await traced(`${group} ${topic}`, { kind: 'consumer', from: {} }, () =>
        together.handle(events, { logger: groupLogger }),
      )
      return true
    } catch (err) {
      groupLogger.warn({ err }, 'events failed together, handling each by itself')
      return false
    }
  }

  return { one, all }
}
