import { type Event, type Logger, type Metrics, pause, retry, within, withJitter } from '@rollcall/runtime'
import type { Admin, ITopicConfig, KafkaJSProtocolError, Message, SASLOptions } from 'kafkajs'
import { type Consumer, startConsumer } from './kafka/consumer.ts'
import { type DeadLetter, type Handle, outcomes, type Together } from './kafka/delivery.ts'
import { acknowledged, type Extent, extentOf, lagOf } from './kafka/lag.ts'
import { type KafkaSettings, type OpenLink, openLink } from './kafka/link.ts'
import { toMessage } from './kafka/message.ts'
import { createPublisher } from './kafka/publisher.ts'
import { redeliver } from './kafka/redeliver.ts'
import { consumptionOf, type Digest, type Feed, type Inbox, type Subscription } from './subscription.ts'
import { contextOf, deadLetterTopic, MESSAGE_BYTES, type Topic } from './topics.ts'

/** Options of `createBus`. */
export type BusOptions<Tx = never> = {
  brokers: string[]
  /** The service's name. */
  clientId: string
  logger: Logger
  metrics?: Metrics
  /** Prefix of the names of topics and groups, so that several stacks can share the brokers. */
  topicPrefix?: string
  /** Partitions of topics that this bus creates. Default 6. */
  partitions?: number
  /** Interval at which the lag of its groups is measured, in milliseconds. Default 30,000. */
  lagIntervalMs?: number
  /** Where subscriptions record the events they consumed; required by `subscribe`. */
  inbox?: Inbox<Tx>
  ssl?: boolean
  sasl?: SASLOptions
}

/** Retries, timeouts and concurrency of a consumer. Times in milliseconds. */
export type ConsumerTuning = {
  /** Deliveries of a failing event before it is dead-lettered. Failures of a dependency do not count. Default 8. */
  attempts?: number
  /** The wait after the first failure; doubles with each failure. Default 200. */
  backoffBaseMs?: number
  /** The longest wait. An event may still wait that long after its dependency has recovered. Default 4,000. */
  backoffMaxMs?: number
  /** Partitions processed concurrently. Default 8. */
  concurrency?: number
  /** Time until a killed consumer's partitions are reassigned; at least 6,000 on a default broker. Default 10,000. */
  sessionTimeoutMs?: number
}

/** Options of `consume`. */
export type ConsumeOptions = ConsumerTuning & {
  /**
   * Consumers of one group share the work; each group gets every event. Named after its task:
   * `audience.on-token-deleted`.
   */
  group: string
  topics: readonly Topic[]
  handle: Handle
  /** For consumers that handle many events at once more cheaply. */
  together?: Together
}

/** Events between services. */
export type Bus<Tx = never> = {
  /** Creates missing topics and their dead-letter topics. `publish` and `consume` do this for the topics they use. */
  ensureTopics(topics: readonly Topic[]): Promise<void>
  /**
   * Publishes events in the given order. Resolves when all in-sync replicas have them.
   * Rejects within `deadlineMs` (default 5,000); some events may be published then. Publish them all again: consumers
   * recognize duplicates by id.
   */
  publish(topic: Topic, events: readonly Event[], options?: { deadlineMs?: number }): Promise<void>
  /** Starts to consume at least once, in order per subject. Returns at once; joins the group in the background. */
  consume(options: ConsumeOptions): Consumer
  /**
   * Starts to consume the events that a subscription has handlers for. Checks each event and applies its effect once:
   * the effect and the inbox entry are one transaction. A digest does this for many events at once. A feed gets every event,
   * at least once.
   */
  subscribe(consumer: Subscription<Tx> | Digest<Tx> | Feed, tuning?: ConsumerTuning): Consumer
  /** Returns the group's lag: events of the topics that it has not acknowledged. */
  lag(group: string, topics: readonly Topic[]): Promise<number>
  /**
   * Resolves when the consumers of this bus have consumed all events that were published until now, dead letters aside.
   * @throws if the brokers are unreachable, or it takes longer than 30 s or until the signal fires
   */
  caughtUp(signal: AbortSignal): Promise<void>
  /**
   * Publishes the dead letters of a topic again and returns their number. Call it when the cause is fixed.
   * Every group gets them; a group that has handled one recognizes it by its id.
   */
  redeliver(topic: Topic): Promise<number>
  /** Stops the consumers, then the producer. */
  close(): Promise<void>
}

const PUBLISH_DEADLINE_MS = 5000
const messageLimit = { name: 'max.message.bytes', value: String(MESSAGE_BYTES) }
const ADMIN_DEADLINE_MS = 10_000
const CATCH_UP_DEADLINE_MS = 30_000
const REDELIVERY_DEADLINE_MS = 600_000
const DEAD_LETTER_RETENTION_MS = 30 * 24 * 3600 * 1000

/** Creates the bus of a service. It connects on first use. */
export function createBus<Tx = never>(options: BusOptions<Tx>): Bus<Tx> {
  const {
    brokers,
    clientId,
    logger,
    topicPrefix = '',
    partitions = 6,
    lagIntervalMs = 30_000,
    inbox,
    ssl,
    sasl,
  } = options
  const settings: KafkaSettings = { brokers, clientId, logger, ...(ssl && { ssl }), ...(sasl && { sasl }) }
  const open: OpenLink = retries => openLink(settings, retries)
  const publisher = createPublisher(open)
  const consumers = new Map<Consumer, Pick<ConsumeOptions, 'group' | 'topics'>>()
  const ensured = new Set<string>()
  const count = options.metrics && countEvents(options.metrics)

  const prefixed = (name: string): string => topicPrefix + name

  const withAdmin = <T>(
    what: string,
    task: (admin: Admin) => Promise<T>,
    deadlineMs = ADMIN_DEADLINE_MS,
  ): Promise<T> => {
    const link = open(2)
    const admin = link.kafka.admin()
    return within(deadlineMs, what, async () => {
      await admin.connect()
      return await task(admin)
    }).finally(link.cut)
  }

  const ensure = async (names: readonly string[]): Promise<void> => {
    const unknown = names.filter(name => !ensured.has(name))
    if (unknown.length === 0) return
    const create = async (admin: Admin) => {
      const existing = new Set(await admin.listTopics())
      const missing = unknown.flatMap(withDeadLetters).filter(({ topic }) => !existing.has(topic))
      if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true })
    }
    await retry(() => withAdmin(`creating ${unknown}`, create), { attempts: 5, retryable: isUnknownTopic })
    for (const name of unknown) ensured.add(name)
  }

  const withDeadLetters = (name: string): ITopicConfig[] => [
    { topic: name, numPartitions: partitions, configEntries: [messageLimit] },
    {
      topic: deadLetterTopic(name),
      numPartitions: 1,
      configEntries: [messageLimit, { name: 'retention.ms', value: String(DEAD_LETTER_RETENTION_MS) }],
    },
  ]

  const deadLetterWriter =
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

  /** Reads the lag from the brokers, so that it includes groups that hang or have no member in this process. */
  const measureLag = () =>
    withAdmin('reading the lag of groups', async admin => {
      for (const { group, topics } of consumers.values()) {
        for (const topic of topics) {
          count?.lag.set({ group, topic }, await lagOf(admin, prefixed(group), prefixed(topic)))
        }
      }
    })
  const closing = new AbortController()
  const watchLag = async (): Promise<void> => {
    if (!count) return
    for (;;) {
      await pause(withJitter(lagIntervalMs), closing.signal)
      if (closing.signal.aborted) return
      await measureLag().catch(err => {
        count.lag.reset() // better no value than an old one
        logger.debug({ err }, 'lag not measured')
      })
    }
  }
  let watching: Promise<void> | undefined

  const consume: Bus['consume'] = ({ group: plainGroup, topics, ...rest }) => {
    const group = prefixed(plainGroup)
    const names = topics.map(prefixed)
    const consumer = startConsumer({
      open,
      group,
      topics: names,
      sourceOf: name => contextOf(name.slice(topicPrefix.length) as Topic),
      writeDeadLetter: deadLetterWriter(plainGroup),
      prepare: () => ensure(names),
      logger,
      onOutcome: (outcome, topic, events) =>
        count?.consumed.inc({ group: plainGroup, topic: topic.slice(topicPrefix.length), outcome }, events),
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

    subscribe: (consumer, tuning) => {
      if (!inbox) throw new Error(`no inbox for ${consumer.name}`)
      return consume({ ...tuning, ...consumptionOf(consumer, inbox) })
    },

    lag: (group, topics) =>
      withAdmin(`reading the lag of ${group}`, async admin => {
        let lag = 0
        for (const topic of topics) lag += await lagOf(admin, prefixed(group), prefixed(topic))
        return lag
      }),

    caughtUp: async signal => {
      const consumed = [...consumers.values()].flatMap(({ group, topics }) =>
        topics.map(topic => ({ group: prefixed(group), name: prefixed(topic) })),
      )
      const catchUp = async (admin: Admin) => {
        const extents = new Map<string, Extent>()
        for (const name of new Set(consumed.map(each => each.name))) extents.set(name, await extentOf(admin, name))
        for (const { group, name } of consumed) await acknowledged(admin, group, name, extents.get(name)!, signal)
      }
      if (consumed.length > 0) await withAdmin('catching up with events', catchUp, CATCH_UP_DEADLINE_MS)
    },

    redeliver: async topic => {
      const name = prefixed(topic)
      const source = deadLetterTopic(name)
      const group = `${source}.redelivery`
      const send = (message: Message) => publisher.send(name, [message], PUBLISH_DEADLINE_MS)
      const { committed, end } = await withAdmin(`reading ${source}`, async admin => {
        if (!(await admin.listTopics()).includes(source))
          throw new Error(`the topic ${source} does not exist: check TOPIC_PREFIX, or run rollcall-admin create-topics`)
        const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [source] })
        const [partition] = await admin.fetchTopicOffsets(source)
        const start = Math.max(Number(partition?.low), Number(offsets?.partitions[0]?.offset ?? 0))
        return { committed: start, end: Number(partition?.high) }
      })
      if (committed >= end) return 0
      return await redeliver({ open, group, source, end, send, deadlineMs: REDELIVERY_DEADLINE_MS })
    },

    close: async () => {
      closing.abort()
      await Promise.all([...consumers.keys()].map(consumer => consumer.stop()))
      await watching
      await publisher.close()
    },
  }
}

/** Whether a broker does not know a topic, which it may for a moment after it has created it. */
function isUnknownTopic(error: unknown): boolean {
  return (error as Partial<KafkaJSProtocolError>).type === 'UNKNOWN_TOPIC_OR_PARTITION'
}

function countEvents(metrics: Metrics) {
  const published = metrics.counter({
    name: 'rollcall_events_published_total',
    help: 'Events published and acknowledged by the brokers.',
    labels: ['topic'],
  })
  const consumed = metrics.counter({
    name: 'rollcall_events_consumed_total',
    help: 'Deliveries of events by outcome: handled, failed (retried later), dead (moved to the dead-letter topic).',
    labels: ['group', 'topic', 'outcome'],
  })
  const lag = metrics.gauge({
    name: 'rollcall_events_behind',
    help: 'Consumer lag in messages, per group and topic. Every replica reports the same value.',
    labels: ['group', 'topic'],
  })
  /** Starts every series at 0, so that a rate includes the first increment. */
  const expect = (group: string, topic: Topic) => {
    for (const outcome of outcomes) consumed.inc({ group, topic, outcome }, 0)
  }
  return { published, consumed, lag, expect }
}
