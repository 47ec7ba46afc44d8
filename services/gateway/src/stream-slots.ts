import { randomUUID } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import type { Redis } from 'ioredis'

/** Streams at once per organization. */
export type StreamSlots = {
  /**
   * Takes a slot of an organization.
   * @returns how to give it back
   * @throws {AppError} too_many_pending where all of them are taken
   */
  take(organizationId: string): Promise<() => void>
  stop(): void
}

/** What the slots are counted with. */
export type StreamSlotOptions = {
  redis: Redis
  /** Start of every key. */
  prefix: string
  perOrganization: number
  /** A slot of a replica that crashed is free again after this time. */
  ttlMs?: number
}

const retryAfterSeconds = 5
const renewalsPerTtl = 3

/** A sorted set per organization: slots by the time of Redis at which they expire. */
const now = `local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)`
const takeScript = `${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`
const renewScript = `${now}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])`

/**
 * Counts the streams of organizations over all replicas, in Redis. Each slot expires unless its replica renews it, so that
 * a crash leaks none. While Redis is away every replica counts for itself.
 */
export function createStreamSlots(options: StreamSlotOptions): StreamSlots {
  const { redis, prefix, perOrganization, ttlMs = 30_000 } = options
  const held = new Map<string, Set<string>>()
  const keyOf = (organizationId: string) => prefix + organizationId

  const isFree = async (organizationId: string, slot: string): Promise<boolean> => {
    try {
      return (await redis.eval(takeScript, 1, keyOf(organizationId), ttlMs, slot, perOrganization)) === 1
    } catch {
      return [...held.get(organizationId)!].indexOf(slot) < perOrganization
    }
  }
  const giveBack = (organizationId: string, slot: string) => {
    const own = held.get(organizationId)!
    own.delete(slot)
    if (own.size === 0) held.delete(organizationId)
    redis.zrem(keyOf(organizationId), slot).catch(() => {}) // It expires.
  }
  const renew = () => {
    for (const [organizationId, slots] of held) {
      redis.eval(renewScript, 1, keyOf(organizationId), ttlMs, ...slots).catch(() => {})
    }
  }
  const renewing = setInterval(renew, ttlMs / renewalsPerTtl).unref()

  return {
    async take(organizationId) {
      const slot = randomUUID()
      held.set(organizationId, (held.get(organizationId) ?? new Set()).add(slot))
      if (!(await isFree(organizationId, slot))) {
        giveBack(organizationId, slot)
        const what = 'streams at once per organization'
        throw new AppError('quota.too_many_pending', { limit: perOrganization, what, retryAfterSeconds })
      }
      return () => giveBack(organizationId, slot)
    },
    stop: () => clearInterval(renewing),
  }
}
