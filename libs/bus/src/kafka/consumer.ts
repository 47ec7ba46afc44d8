import { backoffMs, pause, within } from '@rollcall/runtime'
import type { EachBatchPayload, Consumer as KafkaConsumer, KafkaMessage } from 'kafkajs'
import { createDelivery, type DeliveryOptions, type Outcome } from './delivery.ts'
import type { OpenLink } from './link.ts'

/** Options of `startConsumer`. Times in milliseconds. */
export type ConsumerOptions = Omit<DeliveryOptions, 'stopping'> & {
  open: OpenLink
  topics: string[]
  /** Called after each delivery with its outcome, and how many events it was of. */
  onOutcome: (outcome: Outcome, topic: string, events: number) => void
  /** Prepares the topics; called before each join. */
  prepare: () => Promise<void>
  /** Partitions processed concurrently. */
  concurrency: number
  /** Without a heartbeat for this long, the brokers reassign the consumer's partitions. */
  sessionTimeoutMs: number
}

/** A running consumer. */
export type Consumer = {
  /** Finishes the current event, commits, and leaves the group. */
  stop(): Promise<void>
}

/** Effectively unlimited: a consumer that gives up and rejoins must wait for its old session to expire. */
const RETRIES = 10_000
const LEAVE_DEADLINE_MS = 3000

/**
 * Starts a consumer: at least once, in order per partition, and so per key. It joins in the background, and rejoins
 * when the brokers were unavailable. A failing event pauses only its partition until it is fetched again.
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { group, topics, logger, sessionTimeoutMs } = options
  const most = options.together?.most ?? 1
  const stopping = new AbortController()
  const working = new Set<Promise<void>>()
  const { promise: stopRequested, resolve: requestStop } = Promise.withResolvers<void>()

  const deliver = createDelivery({ ...options, stopping: stopping.signal })

  const eachBatch = (payload: EachBatchPayload): Promise<void> => {
    const work = processBatch(payload).finally(() => working.delete(work))
    working.add(work)
    return work
  }

  const processBatch = async ({ batch, pause: pausePartition, ...kafka }: EachBatchPayload): Promise<void> => {
    const { topic, partition } = batch
    const membership = keepAlive(kafka.heartbeat, sessionTimeoutMs / 6)
    try {
      const acknowledge = async (message: KafkaMessage) => {
        kafka.resolveOffset(message.offset)
        await kafka.commitOffsetsIfNecessary()
      }
      const isOver = () => stopping.signal.aborted || membership.lost !== undefined
      /** Delivers one message after the other, and returns whether none has to be delivered again. */
      const deliverEach = async (messages: readonly KafkaMessage[]): Promise<boolean> => {
        for (const message of messages) {
          if (isOver()) return false
          const delivery = await deliver.one(topic, partition, message)
          options.onOutcome(delivery.outcome, topic, 1)
          if (delivery.outcome === 'failed') {
            setTimeout(pausePartition(), delivery.waitMs).unref()
            return false
          }
          await acknowledge(message)
        }
        return true
      }
      for (let at = 0; at < batch.messages.length && !isOver(); at += most) {
        const messages = batch.messages.slice(at, at + most)
        if (messages.length > 1 && (await deliver.all(topic, partition, messages))) {
          options.onOutcome('handled', topic, messages.length)
          await acknowledge(messages.at(-1)!)
        } else if (!(await deliverEach(messages))) break
      }
    } finally {
      membership.end()
    }
    if (membership.lost) throw membership.lost // kafkajs rejoins
  }

  /** One membership in the group, until a stop or a crash. */
  const session = async (): Promise<void> => {
    const link = options.open(RETRIES)
    const consumer = link.kafka.consumer({
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: sessionTimeoutMs / 5,
      rebalanceTimeout: 20_000,
      maxWaitTimeInMs: 2000, // a stop waits for the current fetch; shorter waits are most of what an idle broker does
      retry: { initialRetryTime: 50, maxRetryTime: 500, retries: RETRIES, restartOnFailure: async () => false },
    })
    const { promise: crashed, reject: crash } = Promise.withResolvers<never>()
    consumer.on(consumer.events.CRASH, ({ payload }) => crash(payload.error))
    const joined = join(consumer)
    for (const outcome of [joined, crashed]) outcome.catch(() => undefined) // the one that settles last
    try {
      await Promise.race([joined.then(() => stopRequested), stopRequested, crashed])
    } finally {
      await Promise.allSettled(working) // before another membership can get the same events
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
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      const startedAt = Date.now()
      try {
        await session()
      } catch (err) {
        if (Date.now() - startedAt > 60_000) attempt = 1
        logger.warn({ group, topics, err }, 'consumer lost its brokers, rejoining')
        await pause(backoffMs(attempt, { baseMs: 100, maxMs: 2000 }), stopping.signal)
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

/** Sends heartbeats while a handler runs. `lost` is set when the group has removed this member. */
function keepAlive(heartbeat: () => Promise<void>, intervalMs: number): { lost: Error | undefined; end(): void } {
  const membership: { lost: Error | undefined; end(): void } = { lost: undefined, end: () => clearInterval(timer) }
  const timer = setInterval(() => {
    heartbeat().catch(error => {
      membership.lost ??= error
    })
  }, intervalMs)
  return membership
}
