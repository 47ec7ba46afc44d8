import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBus, topics } from '@rollcall/bus'
import { SERVICES } from '@rollcall/local'
import { createLogger } from '@rollcall/runtime'
import {
  addEvents,
  connectStore,
  createInbox,
  event,
  migrate,
  type OutgoingEvent,
  type Store,
  startRelay,
} from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { eventually } from '@rollcall/testing/eventually'
import { Kafka, logLevel } from 'kafkajs'
import { Types } from 'mongoose'

const url = process.env.MONGODB_URL ?? assert.fail('MONGODB_URL is not set')
const brokers = (process.env.KAFKA_BROKERS ?? '').split(',')
const database = `restore-${randomUUID().slice(0, 8)}`
const prefix = `${database}.`
const group = 'audience.on-user-events'
const logger = createLogger({ service: 'test', level: 'silent' })

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', 'README.md'), 'utf8')
const [, command = ''] = /^To restore,[\s\S]*?^```js\n([\s\S]*?)^```$/m.exec(readme) ?? []

const openStore = (service: string) => connectStore({ url, dbName: `${database}-rollcall_${service}`, logger })

const user = { _id: new Types.ObjectId(), organization: new Types.ObjectId() }
const actor = { kind: 'system', id: null, name: 'test' } as const
const eventOf = (id: string): OutgoingEvent => ({ ...event('user.blocked', user, { userId: user._id, actor }), id })

const until = (condition: () => Promise<boolean>) => eventually(String(condition), condition, { withinMs: 30_000 })

describe('a restored database', () => {
  let publisher: Store
  let consumer: Store
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()

  before(async () => {
    ;[publisher, consumer] = [await openStore('identity'), await openStore('audience')]
    for (const store of [publisher, consumer]) await migrate(store, logger)
    await admin.connect()
  })

  after(async () => {
    await admin.deleteTopics({ topics: await ownTopics() })
    await admin.disconnect()
    for (const store of [publisher, consumer]) {
      await dropDatabase(store.connection)
      await store.close()
    }
  })

  const ownTopics = async () => (await admin.listTopics()).filter(name => name.startsWith(prefix))
  const effects = () => consumer.connection.collection<{ of: string }>('effects')
  const handled = async () => (await effects().find().toArray()).map(effect => effect.of).sort()
  const publish = (id: string) => publisher.transaction(session => addEvents(session, [eventOf(id)]))

  /** Runs both services until `reached`, then stops them. */
  async function runUntil(reached: () => Promise<boolean>): Promise<void> {
    const inbox = createInbox(consumer)
    const bus = createBus({ brokers, clientId: 'test', logger, topicPrefix: prefix, partitions: 1, inbox })
    const relay = startRelay({ store: publisher, publish: events => bus.publish(topics.identity, events), logger })
    bus.subscribe({
      name: group,
      on: {
        'user.blocked': async (_data, { event: { id }, tx: session }) => {
          await effects().insertOne({ of: id }, { session })
        },
      },
    })
    await until(reached).finally(async () => {
      await relay.stop()
      await bus.close()
    })
  }

  /** Runs the commands of the guide, with the names of these databases. */
  async function runInShell(script: string): Promise<void> {
    const changes: Promise<unknown>[] = []
    const getSiblingDB = (name: string) => {
      const outbox = publisher.connection.getClient().db(`${database}-${name}`).collection('outbox')
      return { outbox: { updateMany: (...args: [object, object]) => void changes.push(outbox.updateMany(...args)) } }
    }
    const names = ['admin', ...SERVICES.map(service => `rollcall_${service}`)]
    const adminCommand = ({ filter }: { filter: { name: RegExp } }) => ({
      databases: names.filter(name => filter.name.test(name)).map(name => ({ name })),
    })
    new Function('db', script)({ getSiblingDB, adminCommand })
    assert.equal(changes.length, SERVICES.length)
    await Promise.all(changes)
  }

  it('recovers the lost events by the procedure of the guide, by nothing less, and none twice', async () => {
    await publish('kept')
    await publish('lost')
    await runUntil(async () => (await handled()).length === 2)

    // As if restored from a backup between the two.
    await effects().deleteOne({ of: 'lost' })
    await consumer.connection.collection('inbox').deleteOne({ _id: `${group}:lost` as never })
    await publish('later')
    await runUntil(async () => (await handled()).includes('later'))
    assert.deepEqual(await handled(), ['kept', 'later'])

    await runInShell(command)
    await admin.deleteTopics({ topics: (await ownTopics()).filter(name => !name.endsWith('.dlq')) })
    await admin.deleteGroups([`${prefix}${group}`])
    await until(async () => (await ownTopics()).every(name => name.endsWith('.dlq')))

    await runUntil(async () => (await handled()).includes('lost'))
    assert.deepEqual(await handled(), ['kept', 'later', 'lost'])
  })
})
