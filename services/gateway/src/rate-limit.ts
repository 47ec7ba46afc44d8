import { AppError, limits } from '@rollcall/contract'
import type { Metrics } from '@rollcall/runtime'
import {
  type AugmentedRequest,
  MemoryStore,
  type Options,
  type RateLimitInfo,
  rateLimit,
  type Store,
} from 'express-rate-limit'
import type { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { limitKey } from './address.ts'
import type { Claimed, Counted, Exchange, Header } from './exchange.ts'
import type { Step } from './steps.ts'

type Group = keyof typeof limits

/** What the limits need. */
export type LimitOptions = {
  redis: Redis
  /** Prefix of every key, before the name of the group. */
  prefix: string
  metrics: Metrics
}

/**
 * Counts a request against the limit of one group, and returns the headers that show its state.
 * @throws {AppError} request.rate_limited if the limit is exceeded
 */
export type Limiter = (exchange: Exchange) => Promise<readonly Header[]>

/** The limits as steps. */
export type RateLimits = {
  /** Counts a request of the API. */
  count: Step<Claimed, Counted>
  /** Counts a request of the pages: the reference, and connecting a mail account. */
  countReference: Limiter
  /** Counts a request of a public page, or of an unknown path outside /api. */
  countPage: Limiter
  /** Counts a preflight request. */
  countPreflight: Limiter
}

/**
 * Creates the limits. A request counts against the global limit and then against that of its route's group, by client
 * address, over all replicas. The headers show the stricter limit, which is counted last.
 *
 * While Redis is down, each replica counts alone, so a client gets its limit once per replica. Without limits,
 * passwords could be guessed; without answers, all would depend on Redis. Permissions do not depend on limits.
 */
export function rateLimits(options: LimitOptions): RateLimits {
  const stores = byGroup(group => sharedStore(options, group))
  const limiters = byGroup(group => limiter(group, stores[group], options.metrics))
  const loadScripts = () => {
    for (const store of Object.values(stores)) store.loadScripts()
  }
  options.redis.on('ready', loadScripts)
  if (options.redis.status === 'ready') loadScripts()
  return {
    async count(exchange) {
      const group = exchange.match?.route.limit
      let limitHeaders = await limiters.global(exchange)
      if (group) limitHeaders = await limiters[group](exchange)
      return Object.assign(exchange, { limitHeaders })
    },
    countReference: limiters.reference,
    countPage: exchange => limiters[exchange.match?.route.limit ?? 'page_visit'](exchange),
    countPreflight: limiters.global,
  }
}

function byGroup<T>(make: (group: Group) => T): Record<Group, T> {
  const groups = Object.keys(limits) as Group[]
  return Object.fromEntries(groups.map(group => [group, make(group)])) as Record<Group, T>
}

function limiter(group: Group, store: Store, metrics: Metrics): Limiter {
  const limited = metrics.counter({
    name: 'rollcall_rate_limited_total',
    help: 'Requests refused by a rate limit',
    labels: ['group'],
  })
  limited.inc({ group }, 0)
  const { requests, windowSeconds } = limits[group]
  const count = rateLimit({
    windowMs: windowSeconds * 1000,
    limit: requests,
    // `headersOf` builds them, and they are written with the rest of the head.
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: (_request, response) => limitKey(response.locals.exchange.ip),
    handler: (request, _response, next) => {
      limited.inc({ group })
      next(new AppError('request.rate_limited', { retryAfterSeconds: Math.max(1, secondsLeft(infoOf(request))) }))
    },
    store,
  })
  const policy: Header = ['RateLimit-Policy', `${requests};w=${windowSeconds}`]
  const limit: Header = ['RateLimit-Limit', String(requests)]
  return exchange =>
    new Promise((resolve, reject) => {
      const { request, response } = exchange
      void count(request, response, (refusal?: unknown) => {
        const headers = [policy, limit, ...headersOf(infoOf(request))]
        exchange.limitHeaders = headers // a refusal has these headers too
        if (refusal) reject(refusal)
        else resolve(headers)
      })
    })
}

const infoOf = (request: Exchange['request']) => (request as AugmentedRequest).rateLimit!

/** Returns the headers of draft-ietf-httpapi-ratelimit-headers-06 that vary by request. */
function headersOf(info: RateLimitInfo): Header[] {
  return [
    ['RateLimit-Remaining', String(info.remaining)],
    ['RateLimit-Reset', String(secondsLeft(info))],
  ]
}

function secondsLeft({ resetTime }: RateLimitInfo): number {
  return resetTime ? Math.max(0, Math.ceil((resetTime.getTime() - Date.now()) / 1000)) : 0
}

/**
 * Creates a store that counts in Redis, and in this process while Redis does not answer. Call `loadScripts` on every
 * new connection: the library does not retry a script that failed to load.
 */
function sharedStore({ redis, prefix, metrics }: LimitOptions, group: Group): Store & { loadScripts(): void } {
  const fallbacks = metrics.counter({
    name: 'rollcall_rate_limit_fallbacks_total',
    help: 'Requests counted by this process alone because Redis did not answer',
  })
  const shared = new RedisStore({
    prefix: `${prefix}${group}:`,
    sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply>,
  })
  const local = new MemoryStore()
  let options: Options | undefined
  return {
    prefix: shared.prefix,
    init(given) {
      options = given
      local.init(given)
    },
    loadScripts: () => void (options && shared.init(options).catch(() => {})),
    increment: key =>
      shared.increment(key).catch(() => {
        fallbacks.inc()
        return local.increment(key)
      }),
    decrement: key => shared.decrement(key),
    resetKey: key => shared.resetKey(key),
  }
}
