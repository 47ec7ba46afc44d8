import type { Metrics } from '@rollcall/runtime'
import type { Redis } from 'ioredis'

/**
 * Adds a metric of the memory that each Redis uses and its limit (0: unlimited), read at each scrape. It leaves out a
 * Redis that does not answer.
 */
export function watchRedisMemory(stores: Record<string, Pick<Redis, 'info'>>, metrics: Metrics): void {
  metrics.gauge({
    name: 'rollcall_redis_memory_bytes',
    help: 'Memory of the Redis of a store in bytes, used and limit (maxmemory)',
    labels: ['store', 'kind'],
    async collect(gauge) {
      gauge.reset()
      await Promise.all(
        Object.entries(stores).map(async ([store, redis]) => {
          const memory = await redis.info('memory').catch(() => '')
          const bytesOf = (field: string) => new RegExp(`^${field}:(\\d+)`, 'm').exec(memory)?.[1]
          const [used, limit] = [bytesOf('used_memory'), bytesOf('maxmemory')]
          if (used === undefined || limit === undefined) return
          gauge.set({ store, kind: 'used' }, Number(used))
          gauge.set({ store, kind: 'limit' }, Number(limit))
        }),
      )
    },
  })
}
