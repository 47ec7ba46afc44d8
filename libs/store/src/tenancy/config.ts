import { flag, milliseconds, urlOf } from '@rollcall/runtime'
import { z } from 'zod'
import type { StoreOptions } from './connection.ts'

/** The variables of every service with a database; spread it into its schema, and pass what it yields to `storeSettings`. */
export const storeConfig = (database: string) => ({
  MONGODB_URL: urlOf('mongodb', 'mongodb+srv'),
  MONGODB_DATABASE: z.string().default(database),
  /** How long one operation, or one transaction with its retries, may take. A migration of large collections takes longer. */
  MONGODB_TIMEOUT_MS: milliseconds().default(15_000),
  /** Connections of one replica at most. */
  MONGODB_POOL_SIZE: z.coerce.number().int().min(1).default(50),
  /** Lists with a filter or an order of the client's that a replica reads at once, of one organization; more are 429. */
  MONGODB_FILTERED_READS: z.coerce.number().int().min(1).default(32),
  /** Exports and lists without pages that a replica streams at once, of one organization; more are 429. */
  MONGODB_STREAMS: z.coerce.number().int().min(1).default(8),
  /** The same of all organizations, for each takes memory; more are 503. */
  MONGODB_ALL_STREAMS: z.coerce.number().int().min(1).default(16),
  /** Whether the service makes its indexes when it starts; else `rollcall-admin migrate` has to be run before. */
  MIGRATE_AT_START: flag().default(true),
})

/** What `storeConfig` yields. */
export type StoreConfig = z.infer<z.ZodObject<ReturnType<typeof storeConfig>>>

/** The options of `connectStore` that come from the environment. */
export function storeSettings(
  config: StoreConfig,
): Pick<StoreOptions, 'url' | 'dbName' | 'poolSize' | 'timeoutMs' | 'reads'> {
  return {
    url: config.MONGODB_URL,
    dbName: config.MONGODB_DATABASE,
    poolSize: config.MONGODB_POOL_SIZE,
    timeoutMs: config.MONGODB_TIMEOUT_MS,
    reads: {
      filteredReads: config.MONGODB_FILTERED_READS,
      streams: config.MONGODB_STREAMS,
      allStreams: config.MONGODB_ALL_STREAMS,
    },
  }
}
