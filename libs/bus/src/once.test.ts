import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createLogger, type Event, retry } from '@rollcall/runtime'
import { connectStore, migrate } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { createBus } from './bus.ts'

const NAME = `test-${randomUUID().slice(0, 8)}`
const TOPIC_PREFIX = `${NAME}.`
const dbName = NAME.replace('-', '_')
const logger = createLogger({ service: 'test', level: 'silent' })
const store = await connectStore({ url: process.env.MONGODB_URL ?? '', dbName, logger })
const bus = createBus({
  brokers: (process.env.KAFKA_BROKERS ?? '').split(','),
  clientId: 'test',
  logger,
  topicPrefix: TOPIC_PREFIX,
  partitions: 3,
})
const effects = store.connection.collection('effects')
const naiveEffects = store.connection.collection('naive_effects')
const children: ChildProcess[] = []

after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await bus.close()
  await dropDatabase(store.connection)
  await store.close()
})

const startConsumers = (lifetime = Number.POSITIVE_INFINITY): ChildProcess => {
  const script = fileURLToPath(new URL('../test/once.child.ts', import.meta.url))
  const child = spawn(process.execPath, [script, TOPIC_PREFIX, dbName, String(lifetime)], { stdio: 'inherit' })
  children.push(child)
  return child
}

const events: Event[] = Array.from({ length: 300 }, (_, index) => ({
  id: randomUUID(),
  type: 'contact.unblocked',
  source: 'audience',
  subject: `subject-${index % 20}`,
  organization: 'organization-1',
  time: new Date().toISOString(),
  data: { contactId: `subject-${index % 20}`, actor: { kind: 'system', id: null, name: 'test' } },
}))

test('events published twice to a consumer that is killed have their effect once', async () => {
  await migrate(store, logger)
  await bus.publish('audience.events', events)
  await bus.publish('audience.events', events.slice(0, 200))

  const [, signal] = await once(startConsumers(150), 'exit')
  assert.equal(signal, 'SIGKILL')
  assert.ok((await bus.lag('once', ['audience.events'])) > 350, 'some of the 150 are not acknowledged')

  startConsumers()
  const idle = async () => {
    for (const group of ['once', 'naive']) assert.equal(await bus.lag(group, ['audience.events']), 0)
  }
  await retry(idle, { deadline: Date.now() + 40_000, baseMs: 200, maxMs: 500 })

  const applied = await effects.find().toArray()
  assert.deepEqual(applied.map(({ event }) => event).toSorted(), events.map(({ id }) => id).toSorted())
  assert.ok((await naiveEffects.countDocuments()) >= 500, 'without the inbox they are doubled')
})
