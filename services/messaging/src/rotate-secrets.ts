import { runTask } from '@rollcall/runtime'
import { connectStore, storeSettings } from '@rollcall/store'
import { readConfig } from './config.ts'
import { modelsOf } from './context.ts'
import { rotateSecrets } from './secret-rotation.ts'
import { createSecrets } from './secrets.ts'

/** `rollcall-admin rotate-secrets`: encrypts what is stored under the first key of SECRET_KEYS. */
await runTask({
  name: 'messaging-secret-rotation',
  config: readConfig,
  async run(config, { logger, onStop }) {
    const store = await connectStore({ ...storeSettings(config), logger })
    onStop('store', store.close)
    await rotateSecrets(modelsOf(store), createSecrets(config.SECRET_KEYS), logger)
  },
})
