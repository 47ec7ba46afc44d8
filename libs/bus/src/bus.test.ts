import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { after, describe, it, mock, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { EventContext } from '@rollcall/contract'
import { createLogger, createMetrics, type Event, pause, retry } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Kafka, type KafkaMessage, logLevel } from 'kafkajs'
import { type Bus, type BusOptions, type ConsumeOptions, createBus } from './bus.ts'
import type { Together } from './kafka/delivery.ts'
import { UnprocessableEvent } from './kafka/message.ts'
import type { Topic } from './topics.ts'

const brokers = (process.env.KAFKA_BROKERS ?? '').split(',')
const TOPIC_PREFIX = `test-${randomUUID().slice(0, 8)}.`
const logger = createLogger({ service: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
const buses: Bus[] = []

const openBus = (options: Partial<BusOptions> = {}): Bus => {
  const bus = createBus({ brokers, clientId: 'test', logger, topicPrefix: TOPIC_PREFIX, partitions: 3, ...options })
  buses.push(bus)
  return bus
}

const bus = openBus()

after(async () => {
  await Promise.all(buses.map(each => each.close()))
  const admin = kafka.admin()
  await admin.connect()
  const topics = (await admin.listTopics()).filter(name => name.startsWith(TOPIC_PREFIX))
  await admin.deleteTopics({ topics })
  await admin.disconnect()
})

let sequence = 0
const eventOf = (subject: string, data: Event['data'] = {}, source: EventContext = 'identity'): Event => ({
  id: `${++sequence}-${randomUUID()}`,
  type: 'thing.changed',
  source,
  subject,
  organization: 'organization-1',
  time: new Date().toISOString(),
  data,
})

/** Consumes with short waits, and collects the handled events. */
const collect = (options: Partial<ConsumeOptions> & { topics: Topic[] }, by: Bus = bus) => {
  const seen: Event[] = []
  const { handle, ...rest } = options
  const consumer = by.consume({
    group: randomUUID(),
    backoffBaseMs: 10,
    backoffMaxMs: 50,
    ...rest,
    handle: async (event, context) => {
      await handle?.(event, context)
      seen.push(event)
    },
  })
  return { seen, stop: consumer.stop }
}

const eventually = (check: () => void | Promise<void>, timeoutMs = 15_000): Promise<void> =>
  retry(async () => check(), { deadline: Date.now() + scaledTimeout(timeoutMs), baseMs: 20, maxMs: 100 })

/** Reads the first `count` messages of a topic, valid events or not. */
const readRaw = async (topic: string, count: number): Promise<KafkaMessage[]> => {
  const messages: KafkaMessage[] = []
  const consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 200 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachMessage: async ({ message }) => void messages.push(message) })
  await eventually(() => assert.equal(messages.length, count))
  await consumer.disconnect()
  return messages
}

const idsOf = (events: Event[]) => events.map(event => event.id)

test('an event arrives as it was sent, and is a CloudEvent on the topic', async () => {
  const sent = eventOf('aggregate-1', { name: 'Zoë', nested: { list: [1, null, true] } }, 'messaging')
  await bus.publish('messaging.events', [sent])
  const { seen, stop } = collect({ topics: ['messaging.events'] })
  await eventually(() => assert.deepEqual(seen, [sent]))
  await stop()

  const [message] = await readRaw(`${TOPIC_PREFIX}messaging.events`, 1)
  const headers = Object.fromEntries(
    Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  )
  assert.deepEqual(headers, {
    ce_specversion: '1.0',
    'content-type': 'application/json',
    ce_id: sent.id,
    ce_type: sent.type,
    ce_source: sent.source,
    ce_subject: sent.subject,
    ce_organization: sent.organization,
    ce_time: sent.time,
  })
  assert.equal(String(message?.key), 'aggregate-1')
  assert.deepEqual(JSON.parse(String(message?.value)), sent.data)
})

test('events that arrive together are handled at once; where one fails, each by itself', async () => {
  const events = Array.from({ length: 20 }, () => eventOf('together', {}, 'content'))
  const poison = events[7]!.id
  const refuse = (some: readonly Event[]) => {
    if (some.some(({ id }) => id === poison)) throw new UnprocessableEvent('poison')
  }
  const atOnce: number[] = []
  await bus.publish('content.events', events)
  const together: Together = {
    most: 5,
    async handle(some) {
      refuse(some)
      atOnce.push(some.length)
      seen.push(...some)
    },
  }
  const { seen, stop } = collect({ topics: ['content.events'], handle: async event => refuse([event]), together })
  await eventually(() => assert.deepEqual(idsOf(seen), idsOf(events).toSpliced(7, 1)))
  assert.deepEqual(atOnce, [5, 5, 5])
  await readRaw(`${TOPIC_PREFIX}content.events.dlq`, 1)
  await stop()
})

test('connections without pending requests check for them only when an answer arrives', async () => {
  const { prototype: requestQueue } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js')
  const requests = mock.method(requestQueue, 'push')
  const checks = mock.method(requestQueue, 'checkPendingRequests')
  try {
    const { seen, stop } = collect({ topics: ['identity.events'] })
    await bus.publish('identity.events', [eventOf('idle')])
    await eventually(() => assert.notEqual(seen.length, 0))
    await stop()
    const [made, answered] = [checks.mock.callCount(), requests.mock.callCount()]
    assert.ok(made <= answered + 10, `${made} checks for ${answered} requests`)
  } finally {
    mock.restoreAll()
  }
})

test('the events of a subject stay in order while partitions are processed concurrently and two consumers share the work', async () => {
  const subjects = Array.from({ length: 20 }, (_, index) => `subject-${index}`)
  const group = randomUUID()
  const seen: Event[] = []
  let atOnce = 0
  let mostAtOnce = 0
  const options = {
    topics: ['audience.events' as const],
    group,
    handle: async (event: Event) => {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      await pause(Math.random() * 3)
      atOnce--
      seen.push(event)
    },
  }
  const consumers = [bus.consume(options), openBus().consume(options)]
  for (let round = 0; round < 10; round++) {
    await bus.publish(
      'audience.events',
      subjects.map(subject => eventOf(subject, { round }, 'audience')),
    )
  }
  await eventually(() => assert.ok(new Set(idsOf(seen)).size === 200))
  await Promise.all(consumers.map(consumer => consumer.stop()))

  assert.ok(mostAtOnce > 1)
  for (const subject of subjects) {
    const firsts = [
      ...new Map(seen.filter(event => event.subject === subject).map(event => [event.id, event])).values(),
    ]
    assert.deepEqual(
      firsts.map(event => event.data.round),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  }
  assert.equal(await bus.lag(group, ['audience.events']), 0, 'all is committed before leaving')
})

test('the lag of a group is measured while its handler hangs, and every outcome starts at zero', async () => {
  const metrics = createMetrics('test')
  const watched = openBus({ topicPrefix: `${TOPIC_PREFIX}lag.`, metrics, lagIntervalMs: 50 })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const labels = 'group="slow",topic="audience.events"'
  const { seen } = collect({ group: 'slow', topics: ['audience.events'], handle: () => released }, watched)
  const shows = (line: string) =>
    eventually(async () => assert.ok((await metrics.registry.metrics()).split('\n').includes(line)))
  await shows(`rollcall_events_consumed_total{${labels},outcome="dead",service="test"} 0`)
  await watched.publish(
    'audience.events',
    ['a', 'b', 'c', 'd', 'e'].map(subject => eventOf(subject, {}, 'audience')),
  )
  await shows(`rollcall_events_behind{${labels},service="test"} 5`)
  release()
  await shows(`rollcall_events_behind{${labels},service="test"} 0`)
  assert.equal(seen.length, 5)
})

test('an event that another service writes to a topic is a dead letter at once', async () => {
  const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}forged.` })
  const forged = { ...eventOf('a', {}, 'import'), type: 'user.deleted' }
  const genuine = eventOf('a')
  await isolated.publish('identity.events', [forged, genuine])
  const { seen, stop } = collect({ topics: ['identity.events'] }, isolated)
  await eventually(() => assert.deepEqual(idsOf(seen), [genuine.id]))
  await stop()
  const [deadLetter] = await readRaw(`${TOPIC_PREFIX}forged.identity.events.dlq`, 1)
  assert.equal(String(deadLetter?.headers?.dlq_error), 'UnprocessableEvent: source is import, expected identity')
})

test('redelivery names a topic that does not exist yet', async () => {
  const empty = openBus({ topicPrefix: `${TOPIC_PREFIX}empty.` })
  const message = /^the topic \S+\.empty\.import\.events\.dlq does not exist: .* rollcall-admin create-topics$/
  await assert.rejects(empty.redeliver('import.events'), { message })
})

test('dead letters are delivered again after a fix', async () => {
  const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}fixed.` })
  const events = [eventOf('a'), eventOf('b')]
  let fixed = false
  const { seen, stop } = collect(
    {
      topics: ['identity.events'],
      handle: async () => {
        if (!fixed) throw new UnprocessableEvent('unsupported')
      },
    },
    isolated,
  )
  await isolated.publish('identity.events', events)
  await readRaw(`${TOPIC_PREFIX}fixed.identity.events.dlq`, 2)
  fixed = true
  assert.equal(await isolated.redeliver('identity.events'), 2)
  await eventually(() => assert.deepEqual(idsOf(seen).toSorted(), idsOf(events).toSorted()))
  assert.equal(await isolated.redeliver('identity.events'), 0)
  await stop()
})

test('a message that is not a valid event is a dead letter at once', async () => {
  const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}alien.` })
  await isolated.ensureTopics(['identity.events'])
  const producer = kafka.producer()
  await producer.connect()
  const headers = {
    ce_specversion: '1.0',
    ce_id: '1',
    ce_type: 't',
    ce_source: 'identity',
    ce_subject: 'a',
    ce_organization: 'o',
    ce_time: 'now',
  }
  await producer.send({
    topic: `${TOPIC_PREFIX}alien.identity.events`,
    messages: [
      { key: 'a', value: 'plain' },
      { key: 'a', value: '{broken', headers },
      { key: 'a', value: '[]', headers },
      { key: 'a', value: null, headers },
      { key: 'a', value: '{}', headers: { ...headers, ce_organization: '' } },
      { key: 'a', value: '{"fine":true}', headers },
    ],
  })
  await producer.disconnect()
  const { seen, stop } = collect({ topics: ['identity.events'] }, isolated)
  await eventually(() =>
    assert.deepEqual(
      seen.map(event => event.data),
      [{ fine: true }],
    ),
  )
  await stop()
  assert.equal((await readRaw(`${TOPIC_PREFIX}alien.identity.events.dlq`, 5)).length, 5)
})

test('a stop waits for the handler, commits, and leaves the rest to the next consumer', async () => {
  const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}stop.` })
  const events = [eventOf('same'), eventOf('same')]
  await isolated.publish('identity.events', events)
  const group = randomUUID()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const first = collect(
    {
      topics: ['identity.events'],
      group,
      handle: async (_event, { signal }) => {
        begin()
        await once(signal, 'abort')
        await pause(50)
      },
    },
    isolated,
  )
  await begun
  await first.stop()
  assert.deepEqual(idsOf(first.seen), [events[0]?.id])
  const second = collect({ topics: ['identity.events'], group }, isolated)
  await eventually(() => assert.deepEqual(idsOf(second.seen), [events[1]?.id]))
  await second.stop()
})

describe('events that take a while', { concurrency: true }, () => {
  it('a failing event is delivered again, in order, and blocks only its own partition', async () => {
    const poisoned = eventOf('stubborn', {}, 'import')
    const others = Array.from({ length: 60 }, (_, index) => eventOf(`easy-${index}`, {}, 'import'))
    const behind = eventOf('stubborn', {}, 'import')
    const attempts: number[] = []
    let healed = false
    const { seen, stop } = collect({
      topics: ['import.events'],
      attempts: 1000,
      handle: async (event, { attempt }) => {
        if (event.id !== poisoned.id) return
        attempts.push(attempt)
        if (!healed) throw new Error('not yet')
      },
    })
    await bus.publish('import.events', [poisoned, ...others, behind])
    await eventually(() => assert.ok(attempts.length >= 3 && seen.length >= 20))
    assert.ok(!idsOf(seen).includes(behind.id))
    healed = true
    await eventually(() => assert.equal(seen.length, 62))
    await stop()
    const stubborn = seen.filter(event => event.subject === 'stubborn')
    assert.deepEqual(idsOf(stubborn), [poisoned.id, behind.id])
    assert.deepEqual(attempts.slice(0, 3), [1, 2, 3])
  })

  it('a failed event is a dead letter with its error, and the next ones are handled', async () => {
    const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}dead.`, metrics: createMetrics('test') })
    const failing = eventOf('a', { keep: 'me' })
    const malformed = eventOf('a')
    const fine = eventOf('a')
    const attempts: number[] = []
    await isolated.publish('identity.events', [failing, malformed, fine])
    const { seen, stop } = collect(
      {
        group: 'picky',
        topics: ['identity.events'],
        attempts: 3,
        handle: async (event, { attempt }) => {
          if (event.id === malformed.id) throw new UnprocessableEvent('of no use')
          if (event.id !== failing.id) return
          attempts.push(attempt)
          throw new RangeError('out of range')
        },
      },
      isolated,
    )
    await eventually(() => assert.deepEqual(idsOf(seen), [fine.id]))
    await stop()
    assert.deepEqual(attempts, [1, 2, 3])

    const deadLetters = await readRaw(`${TOPIC_PREFIX}dead.identity.events.dlq`, 2)
    const reasons = deadLetters.map(({ headers = {} }) =>
      [headers.ce_id, headers.dlq_error, headers.dlq_attempts, headers.dlq_group].map(String),
    )
    assert.deepEqual(reasons, [
      [failing.id, 'RangeError: out of range', '3', 'picky'],
      [malformed.id, 'UnprocessableEvent: of no use', '1', 'picky'],
    ])
    assert.deepEqual(JSON.parse(String(deadLetters[0]?.value)), { keep: 'me' })
  })

  it('events larger together, or alone, than brokers accept by default arrive in order', async () => {
    const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}large.` })
    const ofSize = (characters: number) => ({ ...eventOf('large'), data: { text: 'x'.repeat(characters) } })
    const events = [...Array.from({ length: 300 }, () => ofSize(10_000)), ofSize(2 ** 21), ofSize(10)]
    await isolated.publish('identity.events', events)
    const { seen, stop } = collect({ topics: ['identity.events'] }, isolated)
    await eventually(() => assert.deepEqual(idsOf(seen), idsOf(events)))
    await stop()
  })

  it('an event whose database is unavailable is retried without limit', async () => {
    let tries = 0
    const away = Object.assign(new Error('no server'), { name: 'MongoServerSelectionError' })
    const waiting = eventOf('patient')
    const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}away.` })
    await isolated.publish('identity.events', [waiting])
    const { seen, stop } = collect(
      {
        topics: ['identity.events'],
        attempts: 2,
        handle: async () => {
          if (++tries <= 4) throw new Error('not stored', { cause: away })
          if (tries === 5) throw new Error('of another kind')
        },
      },
      isolated,
    )
    await eventually(() => assert.deepEqual(idsOf(seen), [waiting.id]))
    await stop()
    assert.equal(tries, 6)
  })

  it('a handler may take longer than the session lasts', async () => {
    const isolated = openBus({ topicPrefix: `${TOPIC_PREFIX}slow.` })
    await isolated.publish('identity.events', [eventOf('slow'), eventOf('slow')])
    let deliveries = 0
    const { seen, stop } = collect(
      { topics: ['identity.events'], sessionTimeoutMs: 6000, handle: () => pause(++deliveries === 1 ? 7000 : 0) },
      isolated,
    )
    await eventually(() => assert.equal(seen.length, 2))
    await stop()
    assert.equal(deliveries, 2)
  })

  it('an event that a killed consumer was handling is delivered to another', async () => {
    const prefix = `${TOPIC_PREFIX}crash.`
    const isolated = openBus({ topicPrefix: prefix })
    const events = [eventOf('k', { stuck: false }), eventOf('k', { stuck: true }), eventOf('k', { stuck: false })]
    await isolated.publish('identity.events', events)

    const child = spawn(process.execPath, [fileURLToPath(new URL('../test/bus.child.ts', import.meta.url)), prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const printed: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      printed.push(line)
      if (line === events[1]?.id) child.kill('SIGKILL')
    }
    assert.deepEqual(printed, idsOf(events.slice(0, 2)))

    const killedAt = Date.now()
    const { seen, stop } = collect({ topics: ['identity.events'], group: 'crash', sessionTimeoutMs: 6000 }, isolated)
    await eventually(() => assert.deepEqual(idsOf(seen).slice(-2), idsOf(events.slice(1))))
    assert.ok(Date.now() - killedAt < 12_000)
    await stop()
  })
})

test('publishing while the brokers are unavailable fails within its deadline, and a stop does not wait for them', async () => {
  const nowhere = openBus({ brokers: ['127.0.0.1:9'] })
  const consumer = nowhere.consume({ group: 'g', topics: ['identity.events'], handle: async () => undefined })
  const startedAt = Date.now()
  await assert.rejects(nowhere.publish('identity.events', [eventOf('a')], { deadlineMs: 1000 }))
  await consumer.stop()
  await nowhere.close()
  assert.ok(Date.now() - startedAt < 3000)
})
