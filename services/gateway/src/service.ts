import { once } from 'node:events'
import { isInBlocks } from '@rollcall/credentials'
import { type Lifecycle, type Logger, pause, runService } from '@rollcall/runtime'
import type { Redis } from 'ioredis'
import { batchedLogger } from './access-log.ts'
import { createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { createContext } from './context.ts'
import { startServer } from './server.ts'

const REDIS_WAIT_MS = 1_000

/**
 * Starts the gateway: the API on `PORT`. It is ready once it has reached identity. After that it stays ready while a
 * dependency is down: it serves the routes that do not need it, and answers 503 with Retry-After to the rest.
 */
async function start(
  config: Config,
  lifecycle: Lifecycle,
  { accessLogger = batchedLogger(config.LOG_LEVEL, lifecycle) }: { accessLogger?: Logger } = {},
): Promise<{ port: number }> {
  const context = createContext(config, accessLogger, lifecycle)
  if (typeof config.TRUST_PROXY === 'number' && config.TRUST_PROXY > 0)
    lifecycle.logger.warn(
      { hops: config.TRUST_PROXY },
      'TRUST_PROXY is a number of hops: any client that connects can choose its address; set CIDR blocks of the proxies',
    )
  const app = createApp(context)
  await Promise.all([context.redis, context.keptAnswers.redis].map(connected))
  const server = await startServer(app, {
    port: config.PORT,
    host: config.LISTEN_HOST,
    headTimeoutMs: config.CLIENT_TIMEOUT_MS,
    requestTimeoutMs: context.bounds.uploadDeadlineMs,
    maxConnections: config.MAX_CONNECTIONS,
    maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    isProxy: address => isTrustedProxy(config.TRUST_PROXY, address),
    watch: context.bounds.watch,
  })
  lifecycle.onStop('http', server.stop)
  let wasReached = false
  lifecycle.health.addReadyCheck('identity', async () => {
    if (!wasReached) await context.backends.ready('identity', 500)
    wasReached = true
  })
  return { port: server.port }
}

/** The gateway: the API over HTTP, in front of the domain services. */
export const service = {
  config: readConfig,
  start,
  run: () => runService({ name: 'gateway', atEdge: true, config: readConfig, start: (...given) => start(...given) }),
}

/** Whether an address is a trusted proxy. With a number of hops, every peer is one. */
function isTrustedProxy(trusted: Config['TRUST_PROXY'], address: string): boolean {
  return typeof trusted === 'number' ? trusted > 0 : isInBlocks(address, trusted)
}

/** Waits briefly for Redis, so that the first requests count over all replicas. */
async function connected(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') await Promise.race([once(redis, 'ready').catch(() => {}), pause(REDIS_WAIT_MS)])
}
