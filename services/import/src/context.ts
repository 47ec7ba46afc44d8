import type { CsvLimits } from '@rollcall/csv'
import { createJobQueue, type JobQueue } from '@rollcall/jobs'
import { type Client, connect, rpcSettings } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import { type Config, queueSettings } from './config.ts'
import { IMPORTS } from './imports/import.job.ts'

/** Limits per organization. */
export type Quotas = {
  pendingUploads: number
  pendingUploadBytes: number
  /** Imports, dry runs and undos together. */
  unfinishedJobs: number
  /** Per upload, including finished ones. */
  dryRuns: number
}

/** The dependencies of the handlers and the job. */
export type Context = {
  store: Store
  collections: Collections
  logger: Logger
  /** Clients of the audience: attribute definitions, and batches of rows. */
  attributes: Client<'rollcall.audience.v1.Attributes'>
  batches: Client<'rollcall.audience.v1.Batches'>
  /** Timeout of a call of the audience. */
  batchTimeoutMs: number
  queue: JobQueue
  limits: CsvLimits
  maxUploadBytes: number
  uploadTtlMs: number
  quotas: Quotas
  /** The time, in milliseconds since the epoch. */
  now: () => number
  /** Length of a time slice; then another organization's imports run. */
  sliceMs: number
}

const BATCH_TIMEOUT_MS = 30_000

/** Creates the context of the service, with its connections to the audience and the queue. */
export function createContext({ config, store, collections, lifecycle, now }: Base<Config, Collections>): Context {
  const { logger, onStop } = lifecycle
  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS, deadlineMs: BATCH_TIMEOUT_MS })
  onStop('connection to audience', async () => audience.close())
  const queue = createJobQueue(IMPORTS, queueSettings(config), logger)
  onStop('queue', queue.close)
  return {
    store,
    collections,
    logger,
    attributes: audience.client('rollcall.audience.v1.Attributes'),
    batches: audience.client('rollcall.audience.v1.Batches'),
    batchTimeoutMs: BATCH_TIMEOUT_MS,
    queue,
    limits: { rows: config.UPLOAD_MAX_ROWS, columns: config.UPLOAD_MAX_COLUMNS, fieldLength: config.UPLOAD_MAX_FIELD },
    maxUploadBytes: config.UPLOAD_MAX_BYTES,
    uploadTtlMs: config.UPLOAD_TTL_MS,
    quotas: {
      pendingUploads: config.PENDING_UPLOADS_PER_ORGANIZATION,
      pendingUploadBytes: config.PENDING_UPLOAD_BYTES_PER_ORGANIZATION,
      unfinishedJobs: config.UNFINISHED_IMPORTS_PER_ORGANIZATION,
      dryRuns: config.DRY_RUNS_PER_UPLOAD,
    },
    now,
    sliceMs: config.IMPORT_TURN_MS,
  }
}
