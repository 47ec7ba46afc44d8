import { backoffMs, type Event, type Logger, pause, traced, within } from '@rollcall/runtime'
import type { EachBatchPayload, Consumer as KafkaConsumer, KafkaMessage } from 'kafkajs'
import type { OpenLink } from './link.ts'
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

/** How a consumer consumes. Times in milliseconds. */
export type ConsumerOptions = {
  open: OpenLink
  group: string
  topics: string[]
  handle: Handle
  giveUp: GiveUp
  logger: Logger
  /** Told after each delivery how it ended. */
  onOutcome: (outcome: Outcome, topic: string) => void
  /** Prepares the topics; called before each joining. */
  prepare: () => Promise<void>
  /** Deliveries of a failing event before it is given up. Failures for want of something that is away do not count. */
  attempts: number
  backoffBaseMs: number
  backoffMaxMs: number
  /** Partitions worked on side by side. */
  concurrency: number
  /** After this long without a sign of life the brokers give the partitions of a killed consumer to another. */
  sessionTimeoutMs: number
}

/** A running consumer. */
export type Consumer = {
  /** Finishes the event at hand, commits, leaves the group. */
  stop(): Promise<void>
}

/** How a delivery can end; a failed one is repeated. */
export const outcomes = ['handled', 'failed', 'dead'] as const
export type Outcome = (typeof outcomes)[number]

/** As good as for ever: a consumer that gives up and comes back as another waits until the brokers have forgotten the first. */
const RETRIES = 10_000
const LEAVE_DEADLINE_MS = 3000

/** What is known of the event that a partition is stuck at; `faults` are the failures that count. */
type Failure = { offset: string; deliveries: number; faults: number }
type Delivery = { outcome: 'handled' | 'dead' } | { outcome: 'failed'; waitMs: number }

/**
 * Consumes at least once, in order per partition, and so per key. It joins in the background and joins again whenever the brokers
 * were away. A failing event is fetched again after a pause of its partition alone: the other partitions go on.
 */
export const startConsumer = (options: ConsumerOptions): Consumer => {
  const { group, topics, logger, sessionTimeoutMs } = options
  const stopping = new AbortController()
  const failures = new Map<string, Failure>()
  const working = new Set<Promise<void>>()
  const { promise: stopRequested, resolve: requestStop } = Promise.withResolvers<void>()

  /** Delivers one message. A failed one must wait `waitMs` before it is delivered again. */
  const deliver = async (topic: string, partition: number, message: KafkaMessage): Promise<Delivery> => {
    const place = `${topic}/${partition}`
    const { offset } = message
    const known = failures.get(place)
    const failure = known?.offset === offset ? known : { offset, deliveries: 0, faults: 0 }
    const attempt = ++failure.deliveries
    const lines = logger.child({ group, topic, partition, offset, attempt })
    try {
      await handle(message, attempt, lines)
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

  const handle = (message: KafkaMessage, attempt: number, lines: Logger): Promise<void> => {
    const event = fromMessage(message)
    const { id, type, organization, traceparent } = event
    const from = traceparent === undefined ? {} : { traceparent }
    return traced(`${group} ${type}`, { kind: 'consumer', from }, () =>
      options.handle(event, {
        attempt,
        signal: stopping.signal,
        logger: lines.child({ event: id, type, organization }),
      }),
    )
  }

  const giveUp = async (letter: DeadLetter, lines: Logger): Promise<boolean> => {
    if (stopping.signal.aborted) return false // it may have failed for that very reason
    try {
      await options.giveUp(letter)
      lines.error({ err: letter.error }, 'event given up, it is among the dead letters')
      return true
    } catch (err) {
      lines.warn({ err }, 'dead letter not written')
      return false
    }
  }

  const eachBatch = (payload: EachBatchPayload): Promise<void> => {
    const work = workThrough(payload).finally(() => working.delete(work))
    working.add(work)
    return work
  }

  const workThrough = async ({ batch, pause: pausePartition, ...kafka }: EachBatchPayload): Promise<void> => {
    const { topic, partition } = batch
    const membership = keepAlive(kafka.heartbeat, sessionTimeoutMs / 6)
    try {
      for (const message of batch.messages) {
        if (stopping.signal.aborted || membership.lost) break
        const delivery = await deliver(topic, partition, message)
        options.onOutcome(delivery.outcome, topic)
        if (delivery.outcome === 'failed') {
          const resume = pausePartition()
          setTimeout(resume, delivery.waitMs).unref()
          break
        }
        kafka.resolveOffset(message.offset)
        await kafka.commitOffsetsIfNecessary()
      }
    } finally {
      membership.end()
    }
    if (membership.lost) throw membership.lost // kafkajs joins again
  }

  /** One membership in the group: until a stop or a crash. */
  const session = async (): Promise<void> => {
    const link = options.open(RETRIES)
    const consumer = link.kafka.consumer({
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: sessionTimeoutMs / 5,
      rebalanceTimeout: 20_000,
      maxWaitTimeInMs: 500, // a stop waits for the fetch under way
      retry: { initialRetryTime: 50, maxRetryTime: 500, retries: RETRIES, restartOnFailure: async () => false },
    })
    const { promise: crashed, reject: crash } = Promise.withResolvers<never>()
    consumer.on(consumer.events.CRASH, ({ payload }) => crash(payload.error))
    const joined = join(consumer)
    for (const outcome of [joined, crashed]) outcome.catch(() => undefined) // whichever comes too late
    try {
      await Promise.race([joined.then(() => stopRequested), stopRequested, crashed])
    } finally {
      await Promise.allSettled(working) // before another membership may be given the same events
      await within(LEAVE_DEADLINE_MS, 'leaving the group', () => consumer.disconnect()).catch(err =>
        logger.debug({ group, err }, 'group not left'),
      )
      link.cut()
    }
  }

  const join = async (consumer: KafkaConsumer): Promise<void> => {
    await options.prepare()
    await consumer.connect()
    await consumer.subscribe({ topics, fromBeginning: true })
    await consumer.run({
      eachBatch,
      eachBatchAutoResolve: false,
      autoCommitInterval: 1000,
      partitionsConsumedConcurrently: options.concurrency,
    })
    logger.info({ group, topics }, 'consuming')
  }

  const consumeUntilStopped = async (): Promise<void> => {
    for (let tries = 1; !stopping.signal.aborted; tries++) {
      const startedAt = Date.now()
      try {
        await session()
      } catch (err) {
        if (Date.now() - startedAt > 60_000) tries = 1
        logger.warn({ group, topics, err }, 'consumer lost the brokers, it joins again')
        await pause(backoffMs(tries, { baseMs: 100, maxMs: 2000 }), stopping.signal)
      }
    }
  }

  const running = consumeUntilStopped()

  return {
    stop: async () => {
      stopping.abort()
      requestStop()
      await running
    },
  }
}

/** Sends heartbeats while a handler works, however long; `lost` tells that the group goes on without this member. */
function keepAlive(heartbeat: () => Promise<void>, everyMs: number): { lost: Error | undefined; end(): void } {
  const membership: { lost: Error | undefined; end(): void } = { lost: undefined, end: () => clearInterval(timer) }
  const timer = setInterval(() => {
    heartbeat().catch(error => {
      membership.lost ??= error
    })
  }, everyMs)
  return membership
}
