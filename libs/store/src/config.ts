import { flag, milliseconds, urlOf } from '@rollcall/runtime'
import { z } from 'zod'
import type { StoreOptions } from './connection.ts'

/** The variables of every service with a database; spread it into its schema, and pass what it yields to `storeSettings`. */
export const storeConfig = (database: string) => ({
  MONGODB_URL: urlOf('mongodb', 'mongodb+srv'),
  MONGODB_DATABASE: z.string().default(database),
  /** How long one operation, or one transaction with its retries, may take. A migration of large collections takes longer. */
  MONGODB_TIMEOUT_MS: milliseconds().default(15_000),
  /** Whether the service makes its indexes when it starts; else its `migrate.ts` is to be run before. */
  MIGRATE_AT_START: flag().default(true),
})

type StoreConfig = z.infer<z.ZodObject<ReturnType<typeof storeConfig>>>

/** The options of `connectStore` that come from the environment. */
export function storeSettings(config: StoreConfig): Pick<StoreOptions, 'url' | 'dbName' | 'timeoutMs'> {
  return { url: config.MONGODB_URL, dbName: config.MONGODB_DATABASE, timeoutMs: config.MONGODB_TIMEOUT_MS }
}
