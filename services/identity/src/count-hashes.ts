import { runTask } from '@rollcall/runtime'
import { connectStore, storeSettings } from '@rollcall/store'
import { readConfig } from './config.ts'
import { declareModels } from './context.ts'
import { countStaleHashes } from './stale-hashes.ts'

/** `rollcall-admin count-hashes`: fails while secrets are stored under another key than the first of TOKEN_KEY. */
await runTask({
  name: 'identity-hash-count',
  config: readConfig,
  async run(config, { logger, onStop }) {
    const store = await connectStore({ ...storeSettings(config), logger })
    onStop('store', store.close)
    const [key = ''] = config.TOKEN_KEY.keys()
    const stale = await countStaleHashes(declareModels(store), key)
    logger.info({ key, ...stale }, 'secrets hashed under another key than the first')
    const left = Object.values(stale).reduce((sum, count) => sum + count, 0)
    if (left > 0) throw new Error(`secrets hashed under another key than the first: ${left}`)
  },
})
