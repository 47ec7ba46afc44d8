import { createLogger } from '@rollcall/runtime'
import { createBus } from '../src/bus.ts'

/** A consumer run by `bus.test.ts` in a process of its own: it prints what it is given and never ends handling `stuck` events. */
const [topicPrefix = ''] = process.argv.slice(2)
const bus = createBus({
  brokers: (process.env.KAFKA_BROKERS ?? '').split(','),
  clientId: 'child',
  logger: createLogger({ service: 'child', level: 'silent' }),
  topicPrefix,
})

bus.consume({
  group: 'crash',
  topics: ['identity.events'],
  sessionTimeoutMs: 6000,
  handle: async event => {
    process.stdout.write(`${event.id}\n`)
    if (event.data.stuck) await new Promise(() => undefined)
  },
})
