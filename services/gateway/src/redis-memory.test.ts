import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createMetrics } from '@rollcall/runtime'
import { Redis } from 'ioredis'
import { watchRedisMemory } from './redis-memory.ts'

it('the memory of each Redis is measured at a scrape, except of one that is down', async () => {
  const redis = new Redis(process.env.REDIS_QUEUE_URL ?? '')
  const away = { info: () => Promise.reject(new Error('away')) }
  const metrics = createMetrics('gateway')
  try {
    watchRedisMemory({ queue: redis, cache: away as unknown as Redis }, metrics)
    const { values } = (await metrics.registry.getSingleMetric('rollcall_redis_memory_bytes')!.get()) as {
      values: { labels: object; value: number }[]
    }
    assert.deepEqual(
      values.map(({ labels }) => labels),
      [
        { store: 'queue', kind: 'used' },
        { store: 'queue', kind: 'limit' },
      ],
    )
    assert.ok(values[0]!.value > 100_000)
  } finally {
    redis.disconnect()
  }
})
