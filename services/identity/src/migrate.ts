import { runTask } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { prepareDatabase } from './service.ts'

/** Prepares the database, for deployments where the service does not do so at its start. */
await runTask({
  name: 'identity-migration',
  config: readConfig,
  run: async (config, lifecycle) => prepareDatabase(await createContext(config, lifecycle), config, lifecycle),
})
