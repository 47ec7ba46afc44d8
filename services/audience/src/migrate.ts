import { runTask } from '@rollcall/runtime'
import { connectStore, migrate, storeSettings } from '@rollcall/store'
import { readConfig } from './config.ts'
import { createData } from './data.ts'

/** Makes the indexes, for deployments where the service does not do so at its start. */
await runTask({
  name: 'audience-migration',
  config: readConfig,
  async run(config, { logger, onStop }) {
    const store = await connectStore({ ...storeSettings(config), logger })
    onStop('store', store.close)
    createData(store, logger)
    await migrate(store, logger)
  },
})
