import { Redis } from 'ioredis'

/** Options of `connectCacheRedis`. */
export type CacheConnectionOptions = {
  url: string
  /**
   * Timeout of a command. `false` relies on `silenceMs` alone and saves the timer of every command, a fifth of the
   * command's cost.
   */
  commandTimeoutMs?: number | false
  /** Timeout of a connection with pending replies. Must exceed the longest time that the event loop is blocked. */
  silenceMs?: number
  /** Called for every lost connection. */
  onError?: (error: Error) => void
}

/**
 * Connects to the Redis of the credential cache. A command fails at once while Redis is unreachable, and after
 * `commandTimeoutMs` while it is slow. Commands are neither queued nor retried, because the caller can read the
 * database instead. A silent connection is closed with its pending commands; reconnects are tried at least every half
 * second.
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
