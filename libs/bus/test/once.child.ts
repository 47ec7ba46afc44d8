import { createLogger } from '@rollcall/runtime'
import { connectStore, consumeOnce } from '@rollcall/store'
import { createBus } from '../src/bus.ts'

/**
 * Two consumers run by `once.test.ts` in a process of their own: one applies each event once, the other as often as it comes.
 * After `lifetime` events the process kills itself: the last effects are there, and nobody has acknowledged their events.
 */
const [topicPrefix = '', dbName = '', lifetime = 'Infinity'] = process.argv.slice(2)
const logger = createLogger({ service: 'child', level: 'silent' })
const brokers = (process.env.KAFKA_BROKERS ?? '').split(',')
const store = await connectStore({ url: process.env.MONGODB_URL ?? '', dbName, logger })
const bus = createBus({ brokers, clientId: 'child', logger, topicPrefix })
// One partition at a time, so that the kill leaves no transaction open: its locks would be held for a minute.
const shared = { topics: ['audience.events'] as const, sessionTimeoutMs: 6000, concurrency: 1 }
let handled = 0

bus.consume({
  ...shared,
  group: 'once',
  handle: async event => {
    await consumeOnce(store, 'once', event, async session => {
      await store.connection.collection('effects').insertOne({ event: event.id }, { session })
    })
    if (++handled === Number(lifetime)) process.kill(process.pid, 'SIGKILL')
  },
})

bus.consume({
  ...shared,
  group: 'naive',
  handle: async event => {
    await store.connection.collection('naive_effects').insertOne({ event: event.id })
  },
})
