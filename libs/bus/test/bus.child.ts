import { createLogger } from '@rollcall/runtime'
import { createBus } from '../src/bus.ts'

/** A consumer that `bus.test.ts` runs in its own process: prints the ids of events, and hangs at `stuck` ones. */
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
