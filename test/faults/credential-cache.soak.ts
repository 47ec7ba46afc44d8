import { test } from 'node:test'
import { soak } from './credential-cache.harness.ts'

test('R1: 100,000 interleavings of the credential cache', () =>
  soak({ redisUrl: process.env.REDIS_CACHE_URL ?? '', print: line => console.log(`R1  ${line}`) }))
