import { busSettings, createBus, createQueue, startWorker, topics } from '@rollcall/bus'
import { connect, rpcSettings, serveWithin } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, migrate, startRelay, storeSettings } from '@rollcall/store'
import type { Config } from './config.ts'
import { type Context, collectionsOf } from './context.ts'
import { organizationsWithImports, runTurn } from './imports/import.job.ts'
import { imports } from './imports/imports.ts'

/** A job that failed goes on so soon after the audience is back, however often it failed before. */
const longestWaitMs = 3_000

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

  const queueOptions = { url: config.REDIS_QUEUE_URL, name: 'imports', prefix: config.QUEUE_PREFIX, logger }
  const queue = createQueue(queueOptions)
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

  const worker = startWorker({
    ...queueOptions,
    handle: (id, signal) => runTurn(context, id, signal),
    sweep: () => organizationsWithImports(context),
    concurrency: config.IMPORT_CONCURRENCY,
    backoffMaxMs: longestWaitMs,
    metrics,
  })
  lifecycle.onStop('import worker', worker.stop)

  return serveWithin(lifecycle, config, { 'rollcall.import.v1.Imports': imports(context) })
}
