import { Redis } from 'ioredis'

/** Settings of the connection to the cache's Redis. */
export type CacheConnectionOptions = {
  url: string
  /**
   * How long a request may wait for Redis before it is resolved without. `false` leaves that to `silenceMs` and spares
   * every command its timer, a fifth of what the command costs.
   */
  commandTimeoutMs?: number | false
  /** How long the connection may be silent while an answer is due: longer than the process may be busy at a stretch. */
  silenceMs?: number
  /** Told of every lost connection. */
  onError?: (error: Error) => void
}

/**
 * Connects to the Redis of the credential cache. A command fails at once while Redis is away and after
 * `commandTimeoutMs` while it is slow, and none is queued or sent again: the caller has another way to go. A connection
 * that has fallen silent is given up, with all commands under way, and a new one tried every half second.
 */
export function connectCacheRedis({
  url,
  commandTimeoutMs = 250,
  silenceMs = 2 * (commandTimeoutMs || 250),
  onError = () => {},
}: CacheConnectionOptions): Redis {
  const redis = new Redis(url, {
    ...(commandTimeoutMs !== false && { commandTimeout: commandTimeoutMs }),
    socketTimeout: silenceMs,
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
