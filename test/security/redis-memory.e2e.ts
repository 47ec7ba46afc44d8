import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startBacking } from '@rollcall/local'
import { Redis } from 'ioredis'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { addPerson, saveRole } from '../identity/people.ts'
import { startStack, type TestStack } from '../stack.ts'

const cacheDir = process.env.CACHE_DIR ?? join(import.meta.dirname, '../../.cache')
const maxKeys = 5

/** A Redis only for this test, whose memory can be filled. */
async function startRedis() {
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-redis-'))
  const backing = await startBacking({ cacheDir, dataDir, only: ['redis'], env: {}, log: () => {} })
  const redis = new Redis(backing.env.REDIS_CACHE_URL!)
  return {
    redis,
    url: backing.env.REDIS_CACHE_URL!,
    /** Sets the limit below the current use, so that it refuses commands that take memory. */
    fill: () => redis.config('SET', 'maxmemory', '100kb'),
    free: () => redis.config('SET', 'maxmemory', '0'),
    async stop() {
      redis.disconnect()
      await backing.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

describe('finding 4: kept answers and the Redis that revocation needs', () => {
  let stack: TestStack
  let cache: Awaited<ReturnType<typeof startRedis>>
  let queue: Awaited<ReturnType<typeof startRedis>>
  before(async () => {
    ;[cache, queue] = await Promise.all([startRedis(), startRedis()])
    const urls = { REDIS_CACHE_URL: cache.url, REDIS_QUEUE_URL: queue.url }
    stack = await startStack({
      gateways: 2,
      settings: { ...manyAddresses, ...urls, IDEMPOTENCY_KEY_LIMIT: String(maxKeys) },
    })
  })
  after(async () => {
    await stack?.stop()
    await Promise.all([cache?.stop(), queue?.stop()])
  })
  beforeEach(() => Promise.all([cache.free(), queue.free()]))

  const everywhere = (api: Api) =>
    Promise.all(stack.urls.map(async url => (await fromElsewhere(api).at(url).get('/api/auth/me')).status))
  const keyed = (api: Api, key = randomUUID()) => fromElsewhere(api).with({ 'idempotency-key': key })
  const newContact = () => ({ email: `${randomUUID()}@example.com` })

  type Warm = { api: Api; revoke: () => Promise<Answer<unknown>>; refused: number }
  const owner = () => fromElsewhere(stack.owner)
  const causes: [cause: string, prepare: () => Promise<Warm>][] = [
    [
      'a token that is deactivated',
      async () => {
        const { id, api } = await makeToken(owner())
        return { api, revoke: () => owner().patch(`/api/tokens/${id}`, { active: false }), refused: 401 }
      },
    ],
    [
      'a token that is deleted',
      async () => {
        const { id, api } = await makeToken(owner())
        return { api, revoke: () => owner().delete(`/api/tokens/${id}`), refused: 401 }
      },
    ],
    [
      'a token whose role is deleted',
      async () => {
        const { id, name } = await saveRole(owner(), { audience: ['read'] })
        const { api } = await makeToken(owner(), { role: name })
        return { api, revoke: () => owner().delete(`/api/access-control/roles/${id}`), refused: 401 }
      },
    ],
    [
      'a session that is signed out',
      async () => {
        const { api } = await addPerson(stack, 'admin')
        return { api, revoke: () => fromElsewhere(api).post('/api/auth/logout'), refused: 401 }
      },
    ],
    [
      'an account that is blocked',
      async () => {
        const { id, api } = await addPerson(stack, 'admin')
        return { api, revoke: () => owner().patch(`/api/users/${id}/block`, {}), refused: 403 }
      },
    ],
  ]

  for (const [cause, prepare] of causes) {
    it(`${cause} is refused on the very next request, though Redis has no memory left`, async () => {
      const { api, revoke, refused } = await prepare()
      assert.deepEqual(await everywhere(api), [200, 200])
      assert.deepEqual(await everywhere(api), [200, 200], 'from the cache')
      await cache.fill()
      await assert.rejects(cache.redis.set('any', 'thing'), /OOM/)
      const { status, text } = await revoke()
      assert.equal(status, 200, text)
      assert.deepEqual(await everywhere(api), [refused, refused])
      await cache.free()
      assert.deepEqual(await everywhere(api), [refused, refused])
    })
  }

  it('takes no memory of it: keys and answers are in the other Redis', async () => {
    const before = await cache.redis.keys('*idempotency:*')
    await bodyOf(keyed(stack.owner).post('/api/audience', newContact()), 201)
    assert.deepEqual(await cache.redis.keys('*idempotency:*'), before)
    assert.ok((await queue.redis.keys('*idempotency:*')).length > 0)
  })

  it('a caller has a limit of keys in use; others are not affected, and no key is required', async () => {
    const [greedy, modest] = [await makeToken(owner()), await makeToken(owner())]
    for (let count = 0; count < maxKeys; count++)
      await bodyOf(keyed(greedy.api).post('/api/audience', newContact()), 201)
    const refused = await keyed(greedy.api).post<{ success: boolean; message: string }>('/api/audience', newContact())
    assert.equal(refused.status, 429)
    assert.equal(refused.body.success, false)
    assert.match(refused.body.message, new RegExp(`^limit reached: ${maxKeys} idempotency keys in use per credential`))
    assert.ok(Number(refused.headers.get('retry-after')) > 3600)
    await bodyOf(fromElsewhere(greedy.api).post('/api/audience', newContact()), 201)
    await bodyOf(keyed(modest.api).post('/api/audience', newContact()), 201)
  })

  it('a full Redis of kept answers refuses requests with a key, and no others', async () => {
    const { api } = await makeToken(owner())
    await queue.fill()
    const contact = newContact()
    assert.equal((await keyed(api).post('/api/audience', contact)).status, 503)
    await bodyOf(fromElsewhere(api).post('/api/audience', contact), 201)
    await queue.free()
    await bodyOf(keyed(api).post('/api/audience', newContact()), 201)
  })
})
