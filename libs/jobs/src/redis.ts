import type { Logger } from '@rollcall/runtime'
import { Redis, type RedisOptions } from 'ioredis'

/** What a connection is for: answers asked for within a request, or the waiting of job workers. */
type RedisRole = 'request' | 'queue'

/** What `createRedis` takes: `redis://` or `rediss://`, with credentials and database where needed. */
type CreateRedisOptions = { url: string; role: RedisRole; logger: Logger }

/** Answers or fails within half a second, and at once while Redis is away: a request must not wait for it. */
const failFast = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 500,
  socketTimeout: 1000,
} satisfies RedisOptions

const roles = {
  request: failFast,
  // Waits as long as it takes. Above the longest block of a worker, which would else look like a dead socket.
  queue: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
} satisfies Record<RedisRole, RedisOptions>

/** Opens a connection with the options its role demands. It reconnects for ever, within a second of Redis being back. */
export const createRedis = ({ url, role, logger }: CreateRedisOptions): Redis => {
  const redis = new Redis(url, {
    ...roles[role],
    connectionName: `rollcall-${role}`,
    connectTimeout: 2000,
    protocol: 2,
    retryStrategy: tries => Math.min(50 * 2 ** Math.min(tries, 5), 1000),
  })
  let away = false
  redis.on('error', err => {
    if (!away) logger.warn({ err, role }, 'redis is away') // said once, not at every try
    away = true
  })
  redis.on('ready', () => {
    if (away) logger.info({ role }, 'redis is back')
    away = false
  })
  return redis
}
