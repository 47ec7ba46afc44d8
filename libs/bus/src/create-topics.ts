import { baseConfig, loadConfig, runTask } from '@rollcall/runtime'
import { z } from 'zod'
import { createBus } from './bus.ts'
import { busConfig, busSettings, saslIsComplete } from './config.ts'
import { topics } from './topics.ts'

const schema = z.object({ ...baseConfig, ...busConfig }).check(saslIsComplete)

/** `rollcall-admin create-topics`: creates all missing topics. Run it before the services start. */
await runTask({
  name: 'topics',
  config: () => loadConfig(schema),
  async run(config, { logger, onStop }) {
    const bus = createBus({ ...busSettings(config), clientId: 'topics', logger })
    onStop('bus', bus.close)
    await bus.ensureTopics(Object.values(topics))
    logger.info({ topics: Object.values(topics) }, 'topics and dead-letter topics exist')
  },
})
