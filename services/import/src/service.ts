import { busSettings, createBus, topics } from '@rollcall/bus'
import { createJobQueue, startJobs } from '@rollcall/jobs'
import { connect, rpcSettings, serveWithin } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, migrate, startRelay, storeSettings } from '@rollcall/store'
import type { Config } from './config.ts'
import { type Context, collectionsOf } from './context.ts'
import { IMPORTS, importJob } from './imports/import.job.ts'
import { imports } from './imports/imports.ts'

/**
 * Starts the service: its database, its connection to the audience, the worker and the gRPC server.
 * @param now the clock by which uploads expire, in milliseconds since the epoch
 */
export async function startImport(config: Config, lifecycle: Lifecycle, now = Date.now): Promise<{ port: number }> {
  const { logger, metrics, health } = lifecycle

  const store = await connectStore({ ...storeSettings(config), logger })
  lifecycle.onStop('database', store.close)
  health.addReadyCheck('database', store.ping)

  const bus = createBus({ ...busSettings(config), clientId: 'import', logger, metrics })
  lifecycle.onStop('bus', bus.close)

  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS, deadlineMs: 30_000 })
  lifecycle.onStop('connection to audience', async () => audience.close())

  const queueOptions = { url: config.REDIS_QUEUE_URL, prefix: config.QUEUE_PREFIX }
  const queue = createJobQueue(IMPORTS, queueOptions, logger)
  lifecycle.onStop('queue', queue.close)

  const context: Context = {
    store,
    ...collectionsOf(store),
    logger,
    attributes: audience.client('rollcall.audience.v1.Attributes'),
    batches: audience.client('rollcall.audience.v1.Batches'),
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
    turnMs: config.IMPORT_TURN_MS,
  }
  if (config.MIGRATE_AT_START) await migrate(store, logger)

  const relay = startRelay({ store, publish: events => bus.publish(topics.import, events), logger, metrics })
  lifecycle.onStop('outbox relay', relay.stop)

  startJobs(lifecycle, [importJob(context, queueOptions, config.IMPORT_CONCURRENCY)])

  return serveWithin(lifecycle, config, { 'rollcall.import.v1.Imports': imports(context) })
}
