import { once } from 'node:events'
import { type Lifecycle, type Logger, pause } from '@rollcall/runtime'
import type { Redis } from 'ioredis'
import { batchedLogger } from './access-log.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createContext } from './context.ts'
import { startServer } from './server.ts'

const redisPatienceMs = 1_000

/**
 * Starts the gateway: the API on `PORT`. It is ready once it has reached identity; from then on it stays ready whatever
 * is away, because it then still serves what does not need it, and answers 503 with a reason to retry to the rest.
 */
export async function startGateway(
  config: Config,
  lifecycle: Lifecycle,
  accessLogger: Logger = batchedLogger(config.LOG_LEVEL, lifecycle),
): Promise<{ port: number }> {
  const context = createContext(config, accessLogger, lifecycle)
  const app = createApp(context)
  await connected(context.redis)
  const server = await startServer(app, {
    port: config.PORT,
    host: config.LISTEN_HOST,
    requestTimeoutMs: config.STREAM_DEADLINE_MS,
  })
  lifecycle.onStop('http', server.stop)
  let wasReached = false
  lifecycle.health.addReadyCheck('identity', async () => {
    if (!wasReached) await context.backends.ready('identity', 500)
    wasReached = true
  })
  return { port: server.port }
}

/** Waits for Redis, but not for long: the first requests are to be counted with those of the other replicas. */
async function connected(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') await Promise.race([once(redis, 'ready').catch(() => {}), pause(redisPatienceMs)])
}
