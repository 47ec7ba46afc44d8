// P13 of the goals: how fast events leave the outbox for Kafka, and how late they arrive.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Bus, createBus, topics } from '@rollcall/bus'
import { createLogger, type Event, pause } from '@rollcall/runtime'
import { addEvents, connectStore, event, migrate, type OutgoingEvent, type Store, startRelay } from '@rollcall/store'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { Types } from 'mongoose'
import { cpuOf, pidByPort } from './cpu.ts'
import { atLeast, type Figure, sideBySide } from './measure.ts'
import { costOf, describeCost } from './side.ts'

const batchSize = 500
const batches = 40
const perSecond = 1000
const seconds = 10
const longestLagMs = 1000
const topic = topics.audience
const organization = new Types.ObjectId()
const contacts = Array.from({ length: 200 }, () => new Types.ObjectId())
const logger = createLogger({ service: 'bench', level: 'warn', destination: { write: line => console.error(line) } })

/** Measures the path of an event from the outbox to Kafka and to a consumer. */
export async function run(): Promise<Figure[]> {
  const { MONGODB_URL: url, KAFKA_BROKERS } = process.env
  assert(url && KAFKA_BROKERS, 'the backing services are set by the runner')
  const brokers = KAFKA_BROKERS.split(',')
  const name = `bench-${randomUUID().slice(0, 8)}`
  const topicPrefix = `${name}.`
  const store = await connectStore({ url, dbName: name, logger })
  await migrate(store, logger)
  const bus = createBus({ brokers, clientId: 'bench', logger, topicPrefix })
  await bus.ensureTopics([topic])
  const loop = await bareLoop(brokers, topicPrefix + topic)
  try {
    const database = await pidByPort(new URL(url).port)
    const cpu = async () => {
      const { user, system } = process.cpuUsage()
      return { process: (user + system) / 1000, database: cpuOf(database) }
    }
    const costs: { ours: string; loop: string } = { ours: '', loop: '' }
    const priced = (name: keyof typeof costs, run: () => Promise<number>) => async () => {
      const before = await cpu()
      const rate = await run()
      costs[name] = describeCost(costOf(before, await cpu(), batches * batchSize))
      return rate
    }
    const { a, b, ratio } = await sideBySide(
      priced('ours', () => drainOutbox(store, bus)),
      priced('loop', loop.run),
      3,
    )
    const rates = `${Math.round(a)} beside ${Math.round(b)} events/s, ${costs.ours} an event with its making; ${costs.loop}`
    const lagMs = await lagAtSteadyRate(store, bus)
    const figure = atLeast('P13', ratio, 0.8)
    return [
      { ...figure, measured: `${figure.measured} (${rates})` },
      {
        name: 'P13 lag',
        measured: `p99 ${lagMs} ms at ${perSecond}/s`,
        goal: `≤ ${longestLagMs} ms`,
        ok: lagMs <= longestLagMs,
      },
    ]
  } finally {
    await loop.close()
    await bus.close()
    await store.connection.dropDatabase()
    await store.close()
  }
}

/** Events per second from a full outbox to an empty one. */
async function drainOutbox(store: Store, bus: Bus): Promise<number> {
  for (let batch = 0; batch < batches; batch++) {
    await store.transaction(session => addEvents(session, makeEvents(batchSize)))
  }
  let published = 0
  const { promise: drained, resolve } = Promise.withResolvers<void>()
  const startedAt = performance.now()
  const relay = startRelay({
    store,
    logger,
    publish: async events => {
      await bus.publish(topic, events)
      published += events.length
      if (published >= batches * batchSize) resolve()
    },
  })
  await drained
  await relay.stop() // marks the last batch as sent
  return ratePerSecond(startedAt)
}

/** Sends the same messages, prepared in advance, batch after batch. */
async function bareLoop(brokers: string[], topicName: string) {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = makeEvents(batchSize).map(({ data, ...attributes }) => {
    const named = Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value])
    const headers = { ...Object.fromEntries(named), ce_specversion: '1.0', 'content-type': 'application/json' }
    return { key: attributes.subject, value: JSON.stringify(data), headers }
  })
  return {
    run: async () => {
      const startedAt = performance.now()
      for (let batch = 0; batch < batches; batch++) await producer.send({ topic: topicName, messages })
      return ratePerSecond(startedAt)
    },
    close: () => producer.disconnect(),
  }
}

/** The 99th percentile of the time from an event's commit to its handler, in milliseconds. */
async function lagAtSteadyRate(store: Store, bus: Bus): Promise<number> {
  const lags: number[] = []
  const relay = startRelay({ store, logger, publish: events => bus.publish(topic, events) })
  const marker = randomUUID()
  const handle = async ({ data, time }: Event) => {
    if ((data.changed as string[]).includes(marker)) lags.push(Date.now() - Date.parse(time))
  }
  const consumer = bus.consume({ group: 'lag', topics: [topic], handle })
  const consuming = async () => {
    const before = lags.length
    await store.transaction(session => addEvents(session, makeEvents(1, marker)))
    while (lags.length === before) await pause(20)
  }
  await consuming() // the consumer has read the events of earlier rounds
  lags.length = 0

  const tickMs = 20
  const startedAt = performance.now()
  for (let made = 0; made < perSecond * seconds; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) - made
    if (due > 0) await store.transaction(session => addEvents(session, makeEvents(due, marker)))
    made += Math.max(due, 0)
    await pause(tickMs)
  }
  const expected = () => lags.length >= perSecond * seconds
  while (!expected()) await pause(20)
  await consumer.stop()
  await relay.stop()
  lags.sort((a, b) => a - b)
  return lags[Math.floor(lags.length * 0.99)]!
}

function makeEvents(count: number, ...changed: string[]): OutgoingEvent[] {
  const actor = { kind: 'user', id: 'badcab'.repeat(4), name: 'User One' } as const
  return Array.from({ length: count }, (_, index) => {
    const _id = contacts[index % contacts.length]!
    return event('contact.updated', { _id, organization }, { contactId: _id, changed: ['name', ...changed], actor })
  })
}

function ratePerSecond(startedAt: number): number {
  return (batches * batchSize) / ((performance.now() - startedAt) / 1000)
}
