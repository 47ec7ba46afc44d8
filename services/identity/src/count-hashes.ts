import { service } from './service.ts'
import { countStaleHashes } from './stale-hashes.ts'

/** `rollcall-admin count-hashes`: fails if stored secrets use a key other than the first of TOKEN_KEY. */
await service.runTask('hash-count', async ({ config, collections, lifecycle: { logger } }) => {
  const [key = ''] = config.TOKEN_KEY.keys()
  const stale = await countStaleHashes(collections.unscoped, key)
  logger.info({ key, ...stale }, 'secrets hashed under another key than the first')
  const left = Object.values(stale).reduce((sum, count) => sum + count, 0)
  if (left > 0) throw new Error(`secrets hashed under another key than the first: ${left}`)
})
