import type { Logger } from '@rollcall/runtime'
import { Redis, type RedisOptions } from 'ioredis'

/** What a connection is for: commands within a request, or blocking reads of job workers. */
type RedisRole = 'request' | 'queue'

/** Options of `createRedis`. `url`: `redis://` or `rediss://`, with credentials and database where needed. */
type CreateRedisOptions = { url: string; role: RedisRole; logger: Logger }

/** Fails after half a second, and at once while Redis is down: a request must not wait for it. */
const failFast = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 500,
  socketTimeout: 1000,
} satisfies RedisOptions

const roles = {
  request: failFast,
  // No command timeout. The socket timeout exceeds the longest blocking read of a worker.
  queue: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
} satisfies Record<RedisRole, RedisOptions>

/** Opens a connection with the options of its role. It always reconnects, within a second after Redis is back. */
export function createRedis({ url, role, logger }: CreateRedisOptions): Redis {
  const redis = new Redis(url, {
    ...roles[role],
    connectionName: `rollcall-${role}`,
    connectTimeout: 2000,
    protocol: 2,
    retryStrategy: tries => Math.min(50 * 2 ** Math.min(tries, 5), 1000),
  })
  let isDown = false
  redis.on('error', err => {
    if (!isDown) logger.warn({ err, role }, 'redis is down') // once, not at every attempt
    isDown = true
  })
  redis.on('ready', () => {
    if (isDown) logger.info({ role }, 'redis is back')
    isDown = false
  })
  return redis
}
