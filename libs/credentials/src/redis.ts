import { Redis } from 'ioredis'

/** Settings of the connection to the cache's Redis. */
export type CacheConnectionOptions = {
  url: string
  /** How long to wait for Redis: briefly where a request goes on without it, longer where a change would fail. */
  commandTimeoutMs?: number
  /** Told of every lost connection. */
  onError?: (error: Error) => void
}

/**
 * Connects to the Redis of the credential cache. A command fails at once while Redis is away and after
 * `commandTimeoutMs` while it is slow, and none is queued or sent again: the caller has another way to go. A connection
 * that has fallen silent is given up after twice that time, and a new one tried every half second.
 */
export function connectCacheRedis({ url, commandTimeoutMs = 500, onError = () => {} }: CacheConnectionOptions): Redis {
  const redis = new Redis(url, {
    commandTimeout: commandTimeoutMs,
    socketTimeout: 2 * commandTimeoutMs,
    connectTimeout: 1_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: attempt => Math.min(attempt * 50, 500),
    enableAutoPipelining: true,
  })
  redis.on('error', onError)
  return redis
}
