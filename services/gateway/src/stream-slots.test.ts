import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { connectCacheRedis } from '@rollcall/credentials'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import type { Redis } from 'ioredis'
import { createStreamSlots, type StreamSlots } from './stream-slots.ts'

const organization = 'badcab'.repeat(4)
const TTL_MS = scaledTimeout(600)
const refusal = { code: 'quota.too_many_pending', message: 'limit reached: 2 streams at once per organization' }

describe('slots of streams', () => {
  let redis: Redis
  const started: StreamSlots[] = []
  before(async () => {
    redis = connectCacheRedis({ url: process.env.REDIS_CACHE_URL ?? assert.fail('run by npm test') })
    await once(redis, 'ready')
  })
  after(() => {
    for (const slots of started) slots.stop()
    redis.disconnect()
  })
  const replica = (prefix: string, connection = redis) => {
    const slots = createStreamSlots({ redis: connection, prefix, perOrganization: 2, ttlMs: TTL_MS })
    started.push(slots)
    return slots
  }

  it('are counted over replicas, however many are requested at once', async () => {
    const prefix = `test:${randomUUID()}:`
    const replicas = [replica(prefix), replica(prefix), replica(prefix)]
    const asked = Array.from({ length: 30 }, (_, index) => replicas[index % 3]!.take(organization))
    const taken = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled')
    assert.equal(taken.length, 2)
  })

  it('are kept while they are held, and free when they are released', async () => {
    const prefix = `test:${randomUUID()}:`
    const [one, other] = [replica(prefix), replica(prefix)]
    const give = await one.take(organization)
    await one.take(organization)
    await pause(3 * TTL_MS)
    await assert.rejects(other.take(organization), refusal)
    give()
    await other.take(organization)
    await assert.rejects(other.take(organization), refusal)
  })

  it('of a replica that crashed are free after a while', async () => {
    const prefix = `test:${randomUUID()}:`
    const [crashed, other] = [replica(prefix), replica(prefix)]
    await crashed.take(organization)
    await crashed.take(organization)
    crashed.stop() // It releases nothing and renews nothing.
    await assert.rejects(other.take(organization), refusal)
    const startedAt = performance.now()
    await eventually('a stream is free', () => other.take(organization).catch(() => undefined))
    assert.ok(performance.now() - startedAt < scaledTimeout(5 * TTL_MS))
    assert.equal(await redis.pttl(prefix + organization).then(ms => ms > 0), true, 'nothing stays without a TTL')
  })

  it('are counted by each replica while Redis is down', async () => {
    const away = connectCacheRedis({ url: 'redis://127.0.0.1:9' })
    const slots = replica(`test:${randomUUID()}:`, away)
    const taken = await Promise.allSettled(Array.from({ length: 10 }, () => slots.take(organization)))
    assert.equal(taken.filter(({ status }) => status === 'fulfilled').length, 2)
    away.disconnect()
  })
})
