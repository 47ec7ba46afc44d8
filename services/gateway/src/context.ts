import { contractRoutes, type Route } from '@rollcall/contract'
import {
  type CredentialCache,
  connectCacheRedis,
  createCredentialCache,
  createSecretHashers,
  createSessionJwt,
  type SecretHasher,
  type SessionJwt,
} from '@rollcall/credentials'
import { rpcSettings } from '@rollcall/rpc'
import type { Lifecycle, Logger, Metrics } from '@rollcall/runtime'
import type { Redis } from 'ioredis'
import { type Backends, connectBackends } from './backends.ts'
import { type Bounds, createBounds } from './bounds.ts'
import type { CachedCredential } from './claim.ts'
import { addressVariable, type Config } from './config.ts'
import type { IdempotencyOptions } from './idempotency.ts'
import { watchRedisMemory } from './redis-memory.ts'
import { type ShortLinks, startShortLinks } from './short-links.ts'
import { createStreamSlots, type StreamSlots } from './stream-slots.ts'
import { connectTenantServers, type TenantServers } from './tenant-servers.ts'
import { startTokenUsage, type TokenUsage } from './token-usage.ts'

/** Longer than a busy process takes to see an answer of Redis: else it would count limits alone without need. */
const REDIS_SILENCE_MS = 1_000

/** Dependencies of the gateway. */
export type Context = {
  routes: readonly Route[]
  pages: readonly Route[]
  backends: Backends
  /** Redis of the limits and the credential cache. A request queries both in one write. */
  redis: Redis
  limitPrefix: string
  keptAnswers: IdempotencyOptions
  cache: CredentialCache<CachedCredential>
  sessions: SessionJwt
  tokenSecrets: SecretHasher
  /** They resolve API tokens on control-plane routes. */
  tenantServers: TenantServers
  tokenUsage: TokenUsage
  shortLinks: ShortLinks
  /** URL at which browsers reach the API. */
  publicUrl: string
  /** Origins of consoles, which may use the session cookie. */
  consoleOrigins: ReadonlySet<string>
  /** Folder of the built console; empty: none is served. */
  consoleDir: string
  trustProxy: number | string[]
  deadlineMs: number
  uploadMaxBytes: number
  bounds: Bounds
  streamSlots: StreamSlots
  logger: Logger
  accessLogger: Logger
  metrics: Metrics
  /** Whether a stop has begun. Connections are no longer kept alive. */
  isDraining(): boolean
}

/** Creates the context, with connections to Redis and the services. */
export function createContext(config: Config, accessLogger: Logger, lifecycle: Lifecycle): Context {
  const { logger, metrics, health, onStop } = lifecycle
  const redis = connectCacheRedis({
    url: config.REDIS_CACHE_URL,
    commandTimeoutMs: false,
    silenceMs: REDIS_SILENCE_MS,
    onError: err =>
      logger.warn({ err }, 'Redis unavailable: resolving every credential at identity, counting limits per replica'),
  })
  onStop('redis', async () => redis.disconnect())
  const queueRedis = connectCacheRedis({
    url: config.REDIS_QUEUE_URL,
    onError: err =>
      logger.warn({ err }, 'Redis for kept answers unavailable: refusing requests with an Idempotency-Key'),
  })
  onStop('redis of kept answers', async () => queueRedis.disconnect())
  watchRedisMemory({ cache: redis, queue: queueRedis }, metrics)
  const backends = connectBackends({
    addressOf: context => config[addressVariable(context)],
    ...rpcSettings(config),
    deadlineMs: config.RPC_DEADLINE_MS,
    streamDeadlineMs: config.STREAM_DEADLINE_MS,
  })
  onStop('rpc connections', async () => backends.close())
  const tenantServers = connectTenantServers({
    addresses: config.TENANT_SERVERS,
    home: backends.client('rollcall.identity.v1.Credentials'),
    trust: { signingKey: config.TENANT_ASSERTION_KEY ?? config.ASSERTION_KEY },
    tls: config.RPC_TLS_DIR,
    deadlineMs: config.RPC_DEADLINE_MS,
  })
  onStop('connections to tenant servers', async () => tenantServers.close())
  const tokenUsage = startTokenUsage({
    identity: backends.client('rollcall.identity.v1.TokenUsage'),
    everyMs: config.TOKEN_USAGE_REPORT_MS,
    logger,
  })
  onStop('token usage', tokenUsage.stop)
  const shortLinks = startShortLinks({ links: backends.client('rollcall.content.v1.Links'), logger })
  onStop('short links', shortLinks.stop)
  const bounds = createBounds(config)
  onStop('watch over slow clients', async () => bounds.watch.stop())
  const streamSlots = createStreamSlots({
    redis,
    prefix: `${config.LIMIT_PREFIX}streams:`,
    perOrganization: config.STREAMS_PER_ORGANIZATION,
  })
  onStop('stream slots', async () => streamSlots.stop())
  return {
    ...contractRoutes(),
    backends,
    redis,
    limitPrefix: config.LIMIT_PREFIX,
    keptAnswers: {
      redis: queueRedis,
      prefix: config.IDEMPOTENCY_PREFIX,
      maxKeys: {
        credential: config.IDEMPOTENCY_KEY_LIMIT,
        organization: config.IDEMPOTENCY_KEY_LIMIT_PER_ORGANIZATION,
      },
    },
    cache: createCredentialCache(redis, { prefix: config.CREDENTIAL_PREFIX }),
    sessions: createSessionJwt({
      keys: config.SESSION_KEYS,
      issuer: config.SESSION_ISSUER,
      audience: config.SESSION_AUDIENCE,
    }),
    tokenSecrets: createSecretHashers(config.TOKEN_KEY).token,
    tenantServers,
    tokenUsage,
    shortLinks,
    publicUrl: config.PUBLIC_URL,
    consoleOrigins: config.CONSOLE_ORIGINS,
    consoleDir: config.CONSOLE_DIR,
    trustProxy: config.TRUST_PROXY,
    deadlineMs: config.RPC_DEADLINE_MS,
    uploadMaxBytes: config.UPLOAD_MAX_BYTES,
    bounds,
    streamSlots,
    logger,
    accessLogger,
    metrics,
    isDraining: () => health.draining,
  }
}
