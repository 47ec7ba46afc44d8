import { backoffMs, type Event, type Logger, traced } from '@rollcall/runtime'
import type { KafkaMessage } from 'kafkajs'
import { fromMessage, UnprocessableEvent } from './message.ts'
import { isTransient } from './transient.ts'

/** What a handler is told beside the event. */
export type HandleContext = {
  /** 1 for the first delivery of this event to this consumer, counting on while it fails. */
  attempt: number
  /** Fires when the consumer stops; a handler that then rejects gets the event again later. */
  signal: AbortSignal
  /** Its lines carry the event. */
  logger: Logger
}

/** Takes in one event. Resolving acknowledges it; rejecting has it delivered again. It may see an event more than once. */
export type Handle = (event: Event, context: HandleContext) => Promise<void>

/** What is done with an event that is given up. Rejecting keeps the event where it is, to be tried again. */
export type GiveUp = (letter: DeadLetter) => Promise<void>

/** An event that could not be handled, and why. */
export type DeadLetter = { topic: string; partition: number; message: KafkaMessage; error: Error; attempts: number }

/** How events are delivered. Times in milliseconds. */
export type DeliveryOptions = {
  group: string
  handle: Handle
  /** The source that events of a topic have to name. */
  sourceOf: (topic: string) => string
  giveUp: GiveUp
  logger: Logger
  /** Deliveries of a failing event before it is given up. Failures for want of something that is away do not count. */
  attempts: number
  backoffBaseMs: number
  backoffMaxMs: number
  /** Fires when the consumer stops. */
  stopping: AbortSignal
}

/** How a delivery can end; a failed one is repeated. */
export const outcomes = ['handled', 'failed', 'dead'] as const
export type Outcome = (typeof outcomes)[number]

/** How a delivery ended. A failed one must wait `waitMs` before the message is delivered again. */
export type Delivery = { outcome: 'handled' | 'dead' } | { outcome: 'failed'; waitMs: number }

/** What is known of the event that a partition is stuck at; `faults` are the failures that count. */
type Failure = { offset: string; deliveries: number; faults: number }

/** Delivers messages one by one to a handler, and remembers of each partition how often the one it is stuck at has failed. */
export function createDelivery(
  options: DeliveryOptions,
): (topic: string, partition: number, message: KafkaMessage) => Promise<Delivery> {
  const { group, logger, stopping } = options
  const failures = new Map<string, Failure>()

  const handle = (topic: string, message: KafkaMessage, attempt: number, lines: Logger): Promise<void> => {
    const event = fromMessage(message)
    const source = options.sourceOf(topic)
    if (event.source !== source) throw new UnprocessableEvent(`an event of ${event.source}, not of ${source}`)
    const { id, type, organization, traceparent } = event
    const from = traceparent === undefined ? {} : { traceparent }
    return traced(`${group} ${type}`, { kind: 'consumer', from }, () =>
      options.handle(event, {
        attempt,
        signal: stopping,
        logger: lines.child({ event: id, type, organization }),
      }),
    )
  }

  const giveUp = async (letter: DeadLetter, lines: Logger): Promise<boolean> => {
    if (stopping.aborted) return false // it may have failed for that very reason
    try {
      await options.giveUp(letter)
      lines.error({ err: letter.error }, 'event given up, it is among the dead letters')
      return true
    } catch (err) {
      lines.warn({ err }, 'dead letter not written')
      return false
    }
  }

  return async (topic, partition, message) => {
    const place = `${topic}/${partition}`
    const { offset } = message
    const known = failures.get(place)
    const failure = known?.offset === offset ? known : { offset, deliveries: 0, faults: 0 }
    const attempt = ++failure.deliveries
    const lines = logger.child({ group, topic, partition, offset, attempt })
    try {
      await handle(topic, message, attempt, lines)
      failures.delete(place)
      return { outcome: 'handled' }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      failures.set(place, failure)
      if (!isTransient(error)) failure.faults++
      const hopeless = error instanceof UnprocessableEvent || failure.faults >= options.attempts
      if (hopeless && (await giveUp({ topic, partition, message, error, attempts: attempt }, lines))) {
        failures.delete(place)
        return { outcome: 'dead' }
      }
      const waitMs = backoffMs(attempt, { baseMs: options.backoffBaseMs, maxMs: options.backoffMaxMs })
      lines.warn({ err: error, waitMs }, 'event not handled, it will be delivered again')
      return { outcome: 'failed', waitMs }
    }
  }
}
