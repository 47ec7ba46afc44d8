import { rotateSecrets } from './secret-rotation.ts'
import { createSecrets } from './secrets.ts'
import { service } from './service.ts'

/** `rollcall-admin rotate-secrets`: re-encrypts all stored secrets with the first key of SECRET_KEYS. */
await service.runTask('secret-rotation', async ({ config, collections, lifecycle: { logger } }) => {
  await rotateSecrets(collections.unscoped, createSecrets(config.SECRET_KEYS), logger)
})
