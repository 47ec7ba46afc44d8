import { busConfig, saslIsComplete } from '@rollcall/bus'
import type { QueueOptions } from '@rollcall/jobs'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, milliseconds, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_import'),
    ...busConfig,
    ...rpcServerConfig,
    REDIS_QUEUE_URL: urlOf('redis', 'rediss'),
    /** Prefix of the queue's keys. */
    QUEUE_PREFIX: z.string().default('rollcall'),
    /** Address of the audience service. */
    AUDIENCE_ADDRESS: address(),
    /** Limits of an uploaded file. The length of a field is in characters. */
    UPLOAD_MAX_BYTES: whole(1, 10 ** 10).default(200 * 1024 * 1024),
    UPLOAD_MAX_ROWS: whole(1, 5 * 10 ** 7).default(1_000_000),
    UPLOAD_MAX_COLUMNS: whole(1, 10_000).default(256),
    UPLOAD_MAX_FIELD: whole(1, 10 ** 7).default(64 * 1024),
    /** How long an upload can be started. */
    UPLOAD_TTL_MS: milliseconds().default(30 * 60_000),
    /** Limits per organization: uploads that arrive or wait for their start, and unfinished jobs. */
    PENDING_UPLOADS_PER_ORGANIZATION: whole(1, 1_000).default(20),
    PENDING_UPLOAD_BYTES_PER_ORGANIZATION: whole(1, 10 ** 13).default(2 ** 30),
    UNFINISHED_IMPORTS_PER_ORGANIZATION: whole(1, 1_000).default(20),
    /** Maximum of dry runs of one upload. */
    DRY_RUNS_PER_UPLOAD: whole(1, 10_000).default(20),
    /** Organizations whose imports this process runs concurrently. */
    IMPORT_CONCURRENCY: whole(1, 64).default(2),
    /** Length of a time slice; then another organization's imports run. */
    IMPORT_TURN_MS: milliseconds().default(3_000),
  })
  .check(saslIsComplete)

/** The settings of the import service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}

/** Returns the options of the queue of imports. */
export function queueSettings(config: Config): QueueOptions {
  return { url: config.REDIS_QUEUE_URL, prefix: config.QUEUE_PREFIX }
}
