import { baseConfig, loadConfig, runTask } from '@rollcall/runtime'
import { z } from 'zod'
import { createBus } from './bus.ts'
import { busConfig, busSettings, saslIsComplete } from './config.ts'
import { topics } from './topics.ts'

const schema = z.object({ ...baseConfig, ...busConfig }).check(saslIsComplete)

/**
 * `rollcall-admin redeliver-events`: publishes the dead letters of every topic again. Run it when the cause is fixed.
 */
await runTask({
  name: 'redelivery',
  config: () => loadConfig(schema),
  async run(config, { logger, onStop }) {
    const bus = createBus({ ...busSettings(config), clientId: 'redelivery', logger })
    onStop('bus', bus.close)
    for (const topic of Object.values(topics)) {
      const count = await bus.redeliver(topic)
      logger.info({ topic, count }, 'dead letters published again')
    }
  },
})
