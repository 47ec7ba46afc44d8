import { type Event, type Logger, type Metrics, pause, within, withJitter } from '@rollcall/runtime'
import type { Admin, ITopicConfig, Message, SASLOptions } from 'kafkajs'
import { type Consumer, startConsumer } from './kafka/consumer.ts'
import { type DeadLetter, type Handle, outcomes } from './kafka/delivery.ts'
import { lagOf } from './kafka/lag.ts'
import { type KafkaSettings, type OpenLink, openLink } from './kafka/link.ts'
import { toMessage } from './kafka/message.ts'
import { createPublisher } from './kafka/publisher.ts'
import { redeliver } from './kafka/redeliver.ts'
import { consumptionOf, type Inbox, type Subscription } from './subscription.ts'
import { contextOf, deadLetterTopic, type Topic } from './topics.ts'

/** How to reach Kafka, and what to put before every name there. */
export type BusOptions<Tx = never> = {
  brokers: string[]
  /** The service. */
  clientId: string
  logger: Logger
  metrics?: Metrics
  /** Put before the names of topics and groups, so that several stacks can share the brokers. */
  topicPrefix?: string
  /** Partitions of a topic this bus has to create. Default 6. */
  partitions?: number
  /** How often the metric of what its groups have still to take in is measured, in milliseconds. Default 30,000. */
  lagEveryMs?: number
  /** Where subscriptions note what they have consumed; needed to subscribe. */
  inbox?: Inbox<Tx>
  ssl?: boolean
  sasl?: SASLOptions
}

/** How patient a consumer is. Times in milliseconds. */
export type ConsumerTuning = {
  /** Deliveries of a failing event before it goes to the dead letters; a database or service that is away does not count. Default 8. */
  attempts?: number
  /** The wait after the first failure, doubling from there. Default 200. */
  backoffBaseMs?: number
  /** The longest wait: so long after what it needs is back an event may still wait. Default 4,000. */
  backoffMaxMs?: number
  /** Partitions worked on side by side. Default 8. */
  concurrency?: number
  /** How soon the partitions of a killed consumer go to another; 6,000 at least on a default broker. Default 10,000. */
  sessionTimeoutMs?: number
}

/** What `consume` takes. */
export type ConsumeOptions = ConsumerTuning & {
  /** Consumers of one group share the work; each group sees every event. Name it after what it does, as in `audience.on-token-deleted`. */
  group: string
  topics: readonly Topic[]
  handle: Handle
}

/** Events between services. */
export type Bus<Tx = never> = {
  /** Creates the topics that are missing, with their dead letters. `publish` and `consume` see to their own. */
  ensureTopics(topics: readonly Topic[]): Promise<void>
  /**
   * Publishes events in the order given. Resolves when all in-sync replicas have them; rejects within `deadlineMs` (default 5,000),
   * and then any of them may have been published or not: publish again, the consumers know an event by its id.
   */
  publish(topic: Topic, events: readonly Event[], options?: { deadlineMs?: number }): Promise<void>
  /** Starts to consume at least once, in order per subject. Returns at once and joins in the background, for as long as it takes. */
  consume(options: ConsumeOptions): Consumer
  /**
   * Starts to consume the events that a subscription has handlers for: each is checked, and its effect happens once,
   * in one transaction with the note that it was consumed.
   */
  subscribe(subscription: Subscription<Tx>, tuning?: ConsumerTuning): Consumer
  /** How many events of the topics the group has not yet acknowledged. */
  lag(group: string, topics: readonly Topic[]): Promise<number>
  /**
   * Publishes the dead letters of a topic again, once whatever kept them from being handled is mended. All groups see them;
   * those that have handled one know it by its id. Answers how many.
   */
  redeliver(topic: Topic): Promise<number>
  /** Stops the consumers, then the producer. */
  close(): Promise<void>
}

const PUBLISH_DEADLINE_MS = 5000
const ADMIN_DEADLINE_MS = 10_000
const REDELIVERY_DEADLINE_MS = 600_000
const DEAD_LETTER_RETENTION_MS = 30 * 24 * 3600 * 1000

/** Creates the bus of a service. Nothing connects before the first use. */
export const createBus = <Tx = never>(options: BusOptions<Tx>): Bus<Tx> => {
  const { brokers, clientId, logger, topicPrefix = '', partitions = 6, lagEveryMs = 30_000, inbox, ssl, sasl } = options
  const settings: KafkaSettings = { brokers, clientId, logger, ...(ssl && { ssl }), ...(sasl && { sasl }) }
  const open: OpenLink = retries => openLink(settings, retries)
  const publisher = createPublisher(open)
  const consumers = new Map<Consumer, Pick<ConsumeOptions, 'group' | 'topics'>>()
  const ensured = new Set<string>()
  const count = options.metrics && countEvents(options.metrics)

  const prefixed = (name: string): string => topicPrefix + name

  const withAdmin = <T>(what: string, task: (admin: Admin) => Promise<T>): Promise<T> => {
    const link = open(2)
    const admin = link.kafka.admin()
    return within(ADMIN_DEADLINE_MS, what, async () => {
      await admin.connect()
      return await task(admin)
    }).finally(link.cut)
  }

  const ensure = async (names: readonly string[]): Promise<void> => {
    const unknown = names.filter(name => !ensured.has(name))
    if (unknown.length === 0) return
    await withAdmin(`creating ${unknown}`, async admin => {
      const existing = new Set(await admin.listTopics())
      const missing = unknown.flatMap(withLetters).filter(({ topic }) => !existing.has(topic))
      if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true })
    })
    for (const name of unknown) ensured.add(name)
  }

  const withLetters = (name: string): ITopicConfig[] => [
    { topic: name, numPartitions: partitions },
    {
      topic: deadLetterTopic(name),
      numPartitions: 1,
      configEntries: [{ name: 'retention.ms', value: String(DEAD_LETTER_RETENTION_MS) }],
    },
  ]

  const writeDeadLetter =
    (group: string) =>
    async ({ topic, partition, message, error, attempts }: DeadLetter): Promise<void> => {
      const headers = {
        ...message.headers,
        dlq_group: group,
        dlq_topic: topic,
        dlq_partition: String(partition),
        dlq_offset: message.offset,
        dlq_attempts: String(attempts),
        dlq_error: `${error.name}: ${error.message}`.slice(0, 2000),
        dlq_time: new Date().toISOString(),
      }
      const { key, value } = message
      await publisher.send(deadLetterTopic(topic), [{ key, value, headers }], PUBLISH_DEADLINE_MS)
    }

  /** What the brokers say, and not what this process has seen: a group that hangs, or has no member here, counts as well. */
  const measureLag = () =>
    withAdmin('reading how far groups have come', async admin => {
      for (const { group, topics } of consumers.values()) {
        for (const topic of topics) {
          count?.behind.set({ group, topic }, await lagOf(admin, prefixed(group), prefixed(topic)))
        }
      }
    })
  const closing = new AbortController()
  const watchLag = async (): Promise<void> => {
    if (!count) return
    for (;;) {
      await pause(withJitter(lagEveryMs), closing.signal)
      if (closing.signal.aborted) return
      await measureLag().catch(err => {
        count.behind.reset() // better nothing than what was
        logger.debug({ err }, 'lag of groups not read')
      })
    }
  }
  let watching: Promise<void> | undefined

  const consume: Bus['consume'] = ({ group: plainGroup, topics, handle, ...rest }) => {
    const group = prefixed(plainGroup)
    const names = topics.map(prefixed)
    const consumer = startConsumer({
      open,
      group,
      topics: names,
      handle,
      sourceOf: name => contextOf(name.slice(topicPrefix.length) as Topic),
      giveUp: writeDeadLetter(plainGroup),
      prepare: () => ensure(names),
      logger,
      onOutcome: (outcome, topic) =>
        count?.consumed.inc({ group: plainGroup, topic: topic.slice(topicPrefix.length), outcome }),
      attempts: 8,
      backoffBaseMs: 200,
      backoffMaxMs: 4_000,
      concurrency: 8,
      sessionTimeoutMs: 10_000,
      ...rest,
    })
    for (const topic of topics) count?.expect(plainGroup, topic)
    consumers.set(consumer, { group: plainGroup, topics })
    watching ??= watchLag()
    return {
      stop: async () => {
        consumers.delete(consumer)
        await consumer.stop()
      },
    }
  }

  return {
    ensureTopics: topics => ensure(topics.map(prefixed)),

    publish: async (topic, events, { deadlineMs = PUBLISH_DEADLINE_MS } = {}) => {
      if (events.length === 0) return
      const name = prefixed(topic)
      await within(deadlineMs, `preparing ${name}`, () => ensure([name]))
      await publisher.send(name, events.map(toMessage), deadlineMs)
      count?.published.inc({ topic }, events.length)
    },

    consume,

    subscribe: (subscription, tuning) => {
      if (!inbox) throw new Error(`no inbox for ${subscription.name}`)
      return consume({ ...tuning, ...consumptionOf(subscription, inbox) })
    },

    lag: (group, topics) =>
      withAdmin(`reading the lag of ${group}`, async admin => {
        let behind = 0
        for (const topic of topics) behind += await lagOf(admin, prefixed(group), prefixed(topic))
        return behind
      }),

    redeliver: async topic => {
      const name = prefixed(topic)
      const letters = deadLetterTopic(name)
      const group = `${letters}.redelivery`
      const send = (message: Message) => publisher.send(name, [message], PUBLISH_DEADLINE_MS)
      const { committed, end } = await withAdmin(`reading ${letters}`, async admin => {
        const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [letters] })
        const [whole] = await admin.fetchTopicOffsets(letters)
        const start = Math.max(Number(whole?.low), Number(offsets?.partitions[0]?.offset ?? 0))
        return { committed: start, end: Number(whole?.high) }
      })
      if (committed >= end) return 0
      return await redeliver({ open, group, letters, end, send, deadlineMs: REDELIVERY_DEADLINE_MS })
    },

    close: async () => {
      closing.abort()
      await Promise.all([...consumers.keys()].map(consumer => consumer.stop()))
      await watching
      await publisher.close()
    },
  }
}

function countEvents(metrics: Metrics) {
  const published = metrics.counter({
    name: 'rollcall_events_published_total',
    help: 'Events the brokers have acknowledged.',
    labels: ['topic'],
  })
  const consumed = metrics.counter({
    name: 'rollcall_events_consumed_total',
    help: 'Deliveries of events by outcome: handled, failed (to be delivered again), dead.',
    labels: ['group', 'topic', 'outcome'],
  })
  const behind = metrics.gauge({
    name: 'rollcall_events_behind',
    help: 'Events that a group has still to take in, by the brokers; every replica says the same of its groups.',
    labels: ['group', 'topic'],
  })
  /** Without a zero before it, nobody sees the first one grow. */
  const expect = (group: string, topic: Topic) => {
    for (const outcome of outcomes) consumed.inc({ group, topic, outcome }, 0)
  }
  return { published, consumed, behind, expect }
}
