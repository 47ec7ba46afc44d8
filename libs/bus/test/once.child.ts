import { createLogger } from '@rollcall/runtime'
import { connectStore, createInbox } from '@rollcall/store'
import { createBus } from '../src/bus.ts'

/**
 * Two consumers that `once.test.ts` runs in their own process: one applies each event once, the other at each delivery.
 * After `lifetime` events the process kills itself: the last effects are committed, but their events not acknowledged.
 */
const [topicPrefix = '', dbName = '', lifetime = 'Infinity'] = process.argv.slice(2)
const logger = createLogger({ service: 'child', level: 'silent' })
const brokers = (process.env.KAFKA_BROKERS ?? '').split(',')
const store = await connectStore({ url: process.env.MONGODB_URL ?? '', dbName, logger })
const ofStore = createInbox(store)
let handled = 0
const inbox: typeof ofStore = {
  consumeOnce: async (...args) => {
    const isApplied = await ofStore.consumeOnce(...args)
    if (++handled === Number(lifetime)) process.kill(process.pid, 'SIGKILL')
    return isApplied
  },
}
const bus = createBus({ brokers, clientId: 'child', logger, topicPrefix, inbox })
// One partition at a time, so that the kill leaves no transaction open: its locks would be held for a minute.
const tuning = { sessionTimeoutMs: 6000, concurrency: 1 }

bus.subscribe(
  {
    name: 'once',
    on: {
      'contact.unblocked': async (_data, { event, tx: session }) => {
        await store.connection.collection('effects').insertOne({ event: event.id }, { session })
      },
    },
  },
  tuning,
)

bus.consume({
  ...tuning,
  topics: ['audience.events'],
  group: 'naive',
  handle: async event => {
    await store.connection.collection('naive_effects').insertOne({ event: event.id })
  },
})
