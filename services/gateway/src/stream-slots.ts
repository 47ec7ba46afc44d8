import { randomUUID } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import type { Redis } from 'ioredis'

/** Limits the concurrent streams of an organization. */
export type StreamSlots = {
  /**
   * Acquires a slot of an organization.
   * @returns a function that releases the slot
   * @throws {AppError} quota.too_many_pending if all are in use
   */
  take(organizationId: string): Promise<() => void>
  stop(): void
}

/** Settings of the slots. */
export type StreamSlotOptions = {
  redis: Redis
  /** Prefix of every key. */
  prefix: string
  perOrganization: number
  /** After this time, slots of a crashed replica are free again. */
  ttlMs?: number
}

const RETRY_AFTER_SECONDS = 5
const RENEWALS_PER_TTL = 3

/** Each organization has a sorted set of slots, by expiry in the time of Redis. */
const NOW = `local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)`
const TAKE_SCRIPT = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`
const RENEW_SCRIPT = `${NOW}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])`

/**
 * Creates the slots, counted in Redis over all replicas. A slot expires unless its replica renews it, so that a crash
 * leaks none. While Redis is down, each replica counts alone.
 */
export function createStreamSlots(options: StreamSlotOptions): StreamSlots {
  const { redis, prefix, perOrganization, ttlMs = 30_000 } = options
  const held = new Map<string, Set<string>>()
  const keyOf = (organizationId: string) => prefix + organizationId

  const isFree = async (organizationId: string, slot: string): Promise<boolean> => {
    try {
      return (await redis.eval(TAKE_SCRIPT, 1, keyOf(organizationId), ttlMs, slot, perOrganization)) === 1
    } catch {
      return [...held.get(organizationId)!].indexOf(slot) < perOrganization
    }
  }
  const release = (organizationId: string, slot: string) => {
    const own = held.get(organizationId)!
    own.delete(slot)
    if (own.size === 0) held.delete(organizationId)
    redis.zrem(keyOf(organizationId), slot).catch(() => {}) // It expires anyway.
  }
  const renew = () => {
    for (const [organizationId, slots] of held) {
      redis.eval(RENEW_SCRIPT, 1, keyOf(organizationId), ttlMs, ...slots).catch(() => {})
    }
  }
  const renewing = setInterval(renew, ttlMs / RENEWALS_PER_TTL).unref()

  return {
    async take(organizationId) {
      const slot = randomUUID()
      held.set(organizationId, (held.get(organizationId) ?? new Set()).add(slot))
      if (!(await isFree(organizationId, slot))) {
        release(organizationId, slot)
        const what = 'streams at once per organization'
        throw new AppError('quota.too_many_pending', {
          limit: perOrganization,
          what,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      return () => release(organizationId, slot)
    },
    stop: () => clearInterval(renewing),
  }
}
