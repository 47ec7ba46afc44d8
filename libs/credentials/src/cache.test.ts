import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { AppError } from '@rollcall/contract'
import { eventually } from '@rollcall/testing/eventually'
import type { Redis } from 'ioredis'
import { type CredentialCacheOptions, type CredentialRef, createCredentialCache } from './cache.ts'
import { connectCacheRedis } from './redis.ts'

type Value = { expiresAt: number | null; role: string }

const redisUrl = process.env.REDIS_CACHE_URL
assert.ok(redisUrl, 'REDIS_CACHE_URL names the Redis to test with')

const withRole = (role: string, expiresAt: number | null = null): Value => ({ role, expiresAt })
const newOrganization = () => randomBytes(12).toString('hex')
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'service.unavailable'

/** A promise that keeps a write pending until `open` is called. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

const until = (condition: () => Promise<boolean>) => eventually('the write is there', condition, { everyMs: 5 })

suite('credential cache', () => {
  let redis: Redis
  const prefix = `credential-test-${randomBytes(4).toString('hex')}:`

  before(async () => {
    redis = connectCacheRedis({ url: redisUrl })
    await once(redis, 'ready')
  })
  after(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(...keys)
    redis.disconnect()
  })

  /** A new organization, its cache, and a token of it. */
  async function setUp(options: CredentialCacheOptions = {}) {
    const cache = createCredentialCache<Value>(redis, { prefix, ...options })
    const organizationId = newOrganization()
    await cache.prepare(organizationId)
    const refOf = (id: string): CredentialRef => ({ organizationId, kind: 'token', id })
    const cached = async (ref: CredentialRef) => {
      const found = await cache.lookup(ref)
      return found.kind === 'hit' ? found.value.role : found.kind
    }
    const put = async (ref: CredentialRef, role: string) => {
      const found = await cache.lookup(ref)
      assert.ok(found.kind === 'miss')
      return cache.fill(ref, found.ticket, withRole(role))
    }
    return { cache, organizationId, ref: refOf('id-a'), refOf, cached, put }
  }

  test('remembers what was loaded, for every replica', async () => {
    const { cache, ref, cached } = await setUp()
    assert.deepEqual(await cache.resolve(ref, async () => withRole('editor')), withRole('editor'))
    await until(async () => (await cached(ref)) === 'editor')
    const replica = createCredentialCache<Value>(redis, { prefix })
    assert.deepEqual(await replica.resolve(ref, () => assert.fail('asked again')), withRole('editor'))
  })

  test('asks Redis once for a hit, in one slot of a cluster', async () => {
    const { ref, put, organizationId } = await setUp()
    await put(ref, 'editor')
    const asked: string[][] = []
    const spy = createCredentialCache<Value>(
      {
        mget: (...keys) => {
          asked.push(keys)
          return redis.mget(...keys)
        },
        eval: () => assert.fail('no script for a hit'),
        evalsha: () => assert.fail('no script for a hit'),
      },
      { prefix },
    )
    assert.equal((await spy.lookup(ref)).kind, 'hit')
    assert.equal(asked.length, 1)
    for (const key of asked[0]!) assert.ok(key.startsWith(`${prefix}{${organizationId}}:`))
  })

  test('does not remember that there is no such credential', async () => {
    const { cache, ref, cached } = await setUp()
    assert.equal(await cache.resolve(ref, async () => null), null)
    assert.equal(await cached(ref), 'miss')
  })

  test('distinguishes kinds, ids and organizations', async () => {
    const { cache, ref, refOf, put, cached } = await setUp()
    const { organizationId: other } = await setUp()
    await put(ref, 'editor')
    assert.equal(await cached(refOf('id-aa')), 'miss')
    assert.equal(await cached({ ...ref, kind: 'session' }), 'miss')
    assert.equal((await cache.lookup({ ...ref, organizationId: other })).kind, 'miss')
  })

  test('rejects credentials while they change, and values read before the change for ever', async () => {
    const { cache, organizationId, ref, put, cached } = await setUp()
    await put(ref, 'old')
    const gate = createGate()
    const readBefore = await cache.lookup({ ...ref, id: 'other-a' })
    assert.ok(readBefore.kind === 'miss')

    const changing = cache.change({ organizationId, credentials: [ref] }, async timeoutMs => {
      assert.ok(timeoutMs > 0 && timeoutMs <= 5_000)
      await gate.passed
      return 'done'
    })
    await until(async () => (await cached(ref)) === 'miss')
    assert.equal(await put(ref, 'old'), false)
    gate.open()
    assert.equal(await changing, 'done')

    assert.equal(await cached(ref), 'miss')
    assert.equal(await cache.fill({ ...ref, id: 'other-a' }, readBefore.ticket, withRole('old')), false)
    assert.equal(await put(ref, 'new'), true)
    assert.equal(await cached(ref), 'new')
  })

  test('a change of one credential leaves the others cached, one of the organization none', async () => {
    const { cache, organizationId, refOf, put, cached } = await setUp()
    const [one, other] = [refOf('id-a'), refOf('id-b')]
    await put(one, 'old')
    await put(other, 'old')
    await cache.change({ organizationId, credentials: [one] }, async () => {})
    assert.deepEqual([await cached(one), await cached(other)], ['miss', 'old'])
    await put(one, 'old')
    await cache.change({ organizationId }, async () => {})
    assert.deepEqual([await cached(one), await cached(other)], ['miss', 'miss'])
  })

  test('overlapping changes release their own claims only', async () => {
    const { cache, organizationId, ref, put, cached } = await setUp()
    const gates = [createGate(), createGate()]
    const begun = [createGate(), createGate()]
    const changes = gates.map((gate, n) =>
      cache.change({ organizationId, ...(n === 0 && { credentials: [ref] }) }, () => {
        begun[n]!.open()
        return gate.passed
      }),
    )
    await Promise.all(begun.map(({ passed }) => passed))
    for (const n of [1, 0]) {
      assert.equal(await put(ref, 'old'), false)
      gates[n]!.open()
      await changes[n]
    }
    assert.equal(await put(ref, 'new'), true)
    assert.equal(await cached(ref), 'new')
  })

  test('a refusal opens the fence at once, any other failure when its claim has expired', async () => {
    const { cache, organizationId, ref, put } = await setUp({ leaseMs: 400 })
    const fail = (error: Error) => cache.change({ organizationId }, () => Promise.reject(error))

    const refusal = new AppError('token.not_found')
    await assert.rejects(fail(refusal), error => error === refusal)
    assert.equal(await put(ref, 'old'), true)

    const outage = new Error('connection lost')
    await assert.rejects(fail(outage), error => error === outage)
    assert.equal(await put(ref, 'old'), false)
    await until(() => put(ref, 'new'))
  })

  test('a lost fence stays closed for as long as a claim could have lasted', async () => {
    const leaseMs = 500
    const { cache, organizationId, ref, put, cached } = await setUp({ leaseMs })
    await put(ref, 'old')
    const keys = await redis.keys(`${prefix}{${organizationId}}*`)
    await redis.del(...keys.filter(key => !key.includes('token')))

    const lostAt = performance.now()
    assert.equal(await cached(ref), 'miss')
    await cache.change({ organizationId, credentials: [ref] }, async () => {})
    await until(() => put(ref, 'new'))
    assert.ok(performance.now() - lostAt >= leaseMs)
    assert.equal(await cached(ref), 'new')
  })

  test('a late release after everything was lost opens nothing', async () => {
    const { cache, organizationId, ref, put } = await setUp()
    await cache.change({ organizationId, credentials: [ref] }, async () => {
      await redis.del(...(await redis.keys(`${prefix}{${organizationId}}*`)))
    })
    assert.equal(await put(ref, 'unknown'), false)
  })

  test('an expired credential is not a hit, to the millisecond', async () => {
    let time = 1_000_000
    const { cache, ref } = await setUp({ clock: () => time })
    const found = await cache.lookup(ref)
    assert.ok(found.kind === 'miss')
    assert.equal(await cache.fill(ref, found.ticket, withRole('editor', time)), false)
    assert.equal(await cache.fill(ref, found.ticket, withRole('editor', time + 50_000)), true)
    time += 49_999
    assert.equal((await cache.lookup(ref)).kind, 'hit')
    time += 1
    assert.equal((await cache.lookup(ref)).kind, 'miss')
  })

  test('an entry lives five minutes, less if its credential does', async () => {
    const { cache, organizationId, ref, put } = await setUp()
    const key = `${prefix}{${organizationId}}:token:${ref.id}`
    await put(ref, 'editor')
    const full = await redis.pttl(key)
    assert.ok(full > 299_000 && full <= 300_000)
    const found = await cache.lookup({ ...ref, id: 'other' })
    assert.ok(found.kind === 'miss')
    await cache.fill({ ...ref, id: 'other' }, found.ticket, withRole('editor', Date.now() + 5_000))
    const short = await redis.pttl(`${prefix}{${organizationId}}:token:other`)
    assert.ok(short > 0 && short <= 5_000)
  })

  test('an unreadable entry is a miss', async () => {
    const { cache, organizationId, ref, put } = await setUp()
    await put(ref, 'editor')
    const key = `${prefix}{${organizationId}}:token:${ref.id}`
    await redis.set(key, (await redis.get(key))!.slice(0, -2))
    assert.equal((await cache.lookup(ref)).kind, 'unavailable')
    assert.deepEqual(await cache.resolve(ref, async () => withRole('admin')), withRole('admin'))
  })

  test('lost scripts of Redis cost only a second attempt', async () => {
    const { cache, organizationId, ref, put } = await setUp()
    await redis.script('FLUSH')
    await cache.change({ organizationId }, async () => {})
    assert.equal(await put(ref, 'new'), true)
  })
})

/** A proxy to Redis that can be cut or blocked. */
async function createWire(target: URL) {
  const sockets = new Set<Socket>()
  let blocked = false
  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from)
      from.on('data', chunk => blocked || to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = server.address() as { port: number }
  const cut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    block: (on: boolean) => {
      blocked = on
    },
    cut,
    mend: () => listen(port),
  }
}

type Wire = Awaited<ReturnType<typeof createWire>>

suite('credential cache without Redis', () => {
  const ref: CredentialRef = { organizationId: newOrganization(), kind: 'token', id: 'id-a' }

  async function setUp() {
    const wire = await createWire(new URL(redisUrl!))
    const redis = connectCacheRedis({ url: wire.url, commandTimeoutMs: 100 })
    await once(redis, 'ready')
    const errors: unknown[] = []
    const prefix = `credential-test-${randomBytes(4).toString('hex')}:`
    const cache = createCredentialCache<Value>(redis, { prefix, leaseMs: 500, onError: error => errors.push(error) })
    await cache.prepare(ref.organizationId)
    const stop = () => {
      redis.disconnect()
      wire.cut()
    }
    return { wire, cache, errors, stop }
  }

  /** The cache behaves the same whether Redis is unreachable or silent. */
  async function behavesWithoutRedis(cache: Awaited<ReturnType<typeof setUp>>['cache']) {
    const startedAt = performance.now()
    assert.equal((await cache.lookup(ref)).kind, 'unavailable')
    assert.deepEqual(await cache.resolve(ref, async () => withRole('editor')), withRole('editor'))
    await assert.rejects(
      cache.change({ organizationId: ref.organizationId }, () => assert.fail('written without closing the fences')),
      isUnavailable,
    )
    assert.ok(performance.now() - startedAt < 1_000)
  }

  const failures: { name: string; fail(wire: Wire): void; mend(wire: Wire): Promise<void> | void }[] = [
    { name: 'away', fail: wire => wire.cut(), mend: wire => wire.mend() },
    { name: 'silent', fail: wire => wire.block(true), mend: wire => wire.block(false) },
  ]
  for (const { name, fail, mend } of failures) {
    test(`${name}: asks the database, changes nothing, and is back soon after`, async t => {
      const { wire, cache, errors, stop } = await setUp()
      t.after(stop)
      fail(wire)
      await behavesWithoutRedis(cache)
      assert.ok(errors.length > 0)
      await mend(wire)
      await until(async () => (await cache.lookup(ref)).kind !== 'unavailable')
      await until(async () => {
        await cache.resolve(ref, async () => withRole('editor'))
        return (await cache.lookup(ref)).kind === 'hit'
      })
    })
  }

  test('lost between write and release: fails, and the old value stays rejected', async t => {
    const { wire, cache, stop } = await setUp()
    t.after(stop)
    const changing = cache.change({ organizationId: ref.organizationId }, async () => wire.cut())
    await assert.rejects(changing, isUnavailable)
    await wire.mend()
    await until(async () => (await cache.lookup(ref)).kind !== 'unavailable')
    assert.deepEqual(await cache.lookup(ref), { kind: 'miss', ticket: '' })
    await until(async () => {
      await cache.resolve(ref, async () => withRole('editor'))
      return (await cache.lookup(ref)).kind === 'hit'
    })
  })
})
