import { createSecrets } from '@rollcall/credentials'
import { rotateSecrets } from '@rollcall/service'
import { secretHolders } from './secret-holders.ts'
import { service } from './service.ts'

/** `rollcall-admin rotate-secrets`: re-encrypts all stored secrets with the first key of SECRET_KEYS. */
await service.runTask('secret-rotation', async ({ config, collections, lifecycle: { logger } }) => {
  await rotateSecrets(secretHolders(collections.unscoped), createSecrets(config.SECRET_KEYS), logger)
})
