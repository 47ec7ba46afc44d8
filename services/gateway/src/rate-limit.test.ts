import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { contractRoutes, json, limits } from '@rollcall/contract'
import { type Link, linkTo } from '@rollcall/testing/link'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { bootGateway, type StubbedServices, sendRaw, type TestGateway } from '../test/gateway.ts'

const signIn = json({ token: 'a.b.c', expiresAt: '2030-01-01T00:00:00.000Z', user: {} })

/** Three replicas that share their keys in Redis, behind one trusted proxy or none. */
async function bootReplicas(settings: Record<string, string> = {}): Promise<TestGateway[]> {
  const shared = { LIMIT_PREFIX: `test:${randomUUID()}:`, ...settings }
  const first = await bootGateway(shared)
  first.services.behaviours.set('login', () => signIn)
  return [first, await bootGateway(shared, first.services), await bootGateway(shared, first.services)]
}

async function stopAll(replicas: readonly TestGateway[]): Promise<void> {
  for (const replica of replicas) await replica.stop()
}

function login(gateway: { url: string }, headers: Record<string, string> = {}, path = 'login'): Promise<Response> {
  return fetch(`${gateway.url}/api/auth/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({
      email: 'one@example.com',
      password: 'wrong one',
      ...(path === 'register' && { name: 'One' }),
    }),
  })
}

/** Sends sign-ins in parallel, to the replicas in turn, and returns how many were admitted. */
async function countAdmitted(replicas: readonly { url: string }[], forwarded: readonly string[]): Promise<number> {
  const answers = await Promise.all(
    forwarded.map((address, index) => login(replicas[index % replicas.length]!, { 'X-Forwarded-For': address })),
  )
  return answers.filter(({ status }) => status === 200).length
}

const fromOne = Array<string>(100).fill('203.0.113.1')
const forged = Array.from({ length: 60 }, (_, index) => `198.51.100.${index}, 203.0.113.4`)

it('finding 2: every public route has a limit of its own besides the global one', () => {
  const without = contractRoutes().routes.filter(({ access, limit }) => access.kind === 'public' && limit === undefined)
  assert.deepEqual(
    without.map(({ verb, path }) => `${verb} ${path}`),
    [],
  )
})

describe('limits over three replicas', () => {
  let replicas: TestGateway[]
  before(async () => {
    replicas = await bootReplicas({ TRUST_PROXY: '1' })
  })
  after(() => stopAll(replicas))

  const admitted = (forwarded: readonly string[]) => countAdmitted(replicas, forwarded)

  it('admit exactly as many as the limit', async () => {
    const through = await admitted(fromOne)
    console.log(`S3  limit ${limits.login.requests}, ${fromOne.length} requests over 3 replicas: ${through} admitted`)
    assert.equal(through, limits.login.requests)
  })

  it('count each address by itself', async () => {
    assert.equal(await admitted(['203.0.113.2', '203.0.113.3', '2001:db8:1::1']), 3)
  })

  it('are not fooled by what a client writes before the proxy does', async () => {
    const through = await admitted(forged)
    console.log(`S3  ${forged.length} forged X-Forwarded-For: ${through - limits.login.requests} bypasses`)
    assert.equal(through, limits.login.requests)
  })

  it('are not fooled by spellings of an IPv4 address', async () => {
    const spellings = [
      '203.0.113.5',
      '::ffff:203.0.113.5',
      '::FFFF:cb00:7105',
      '203.0.113.5:4711',
      '[::ffff:203.0.113.5]:1',
    ]
    assert.equal(await admitted(Array.from({ length: 60 }, (_, index) => spellings[index % 5]!)), limits.login.requests)
  })

  it('are not fooled by the many addresses of one IPv6 customer', async () => {
    const hex = (value: number) => value.toString(16)
    const sameNetwork = Array.from(
      { length: 60 },
      (_, index) => `2001:db8:aa:bb${hex(index + 16)}:${hex(index)}::${hex(index)}`,
    )
    assert.equal(await admitted(sameNetwork), limits.login.requests)
    assert.equal(await admitted(['2001:db8:aa:bc00::1', '2001:db8:aa:ba00::1']), 2)
  })

  it('count an invalid address as that of the proxy', async () => {
    assert.equal(await admitted(Array.from({ length: 60 }, (_, index) => `unknown-${index}`)), limits.login.requests)
  })

  it('are one bucket for login and register', async () => {
    const [replica] = replicas
    replica!.services.behaviours.set('register', () => signIn)
    const headers = { 'X-Forwarded-For': '203.0.113.6' }
    const answers = []
    for (let time = 0; time < 11; time++) {
      answers.push((await login(replica!, headers)).status, (await login(replica!, headers, 'register')).status)
    }
    assert.deepEqual(answers, [...Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 200 : 201)), 429, 429])
  })

  it('refuse with 429, the limits and when to come back', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    await admitted(Array(20).fill('203.0.113.7'))
    const refused = await login(replicas[0]!, headers)
    assert.equal(refused.status, 429)
    assert.deepEqual(await refused.json(), { success: false, message: 'too many requests, please try again later' })
    assert.equal(refused.headers.get('ratelimit-policy'), '20;w=60')
    assert.equal(refused.headers.get('ratelimit-remaining'), '0')
    const [reset, retryAfter] = ['ratelimit-reset', 'retry-after'].map(name => Number(refused.headers.get(name)))
    assert.ok(retryAfter! > 0 && retryAfter! <= 60)
    assert.equal(reset, retryAfter)
    const text = await replicas[0]!.lifecycle.metrics.registry.metrics()
    assert.match(text, /rollcall_rate_limited_total\{group="login",service="gateway"\} \d+/)
  })

  it('come before the credential: a request over the limit does not reach identity', async () => {
    const { services } = replicas[0]!
    const ask = () =>
      fetch(`${replicas[0]!.url}/api/auth/me`, {
        headers: { Authorization: `${'a'.repeat(24)}:${'a'.repeat(60)}`, 'X-Forwarded-For': '203.0.113.8' },
      })
    for (let time = 0; time < limits.auth.requests; time++) assert.equal((await ask()).status, 401)
    const asked = services.count('resolveToken')
    assert.equal((await ask()).status, 429)
    assert.equal(services.count('resolveToken'), asked)
  })

  it('let no more than the global limit through in its window', async () => {
    const startedAt = performance.now()
    const request = 'GET /api/audience HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n'
    const last = request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    const received = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(index => sendRaw(replicas[index % 3]!.port, request.repeat(149) + last)),
    )
    const statuses = received.flatMap(text => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(match => match[1]))
    assert.equal(statuses.length, 900)
    const windows = 1 + Math.floor((performance.now() - startedAt) / (limits.global.windowSeconds * 1000))
    const through = statuses.filter(status => status === '401').length
    assert.ok(through <= limits.global.requests * windows, `${through} in ${windows} windows`)
    if (windows === 1) assert.equal(through, limits.global.requests)
  })
})

describe('limits without a trusted proxy', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await bootGateway()
  })
  after(() => gateway.stop())

  it('take the peer for the client, whatever it sends', async () => {
    gateway.services.behaviours.set('login', () => signIn)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const address = `203.0.113.${index}`
        return login(gateway, { 'X-Forwarded-For': address, Forwarded: `for=${address}`, 'X-Real-IP': address })
      }),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, limits.login.requests)
  })
})

describe('limits without Redis', () => {
  let link: Link
  let replicas: TestGateway[]
  let services: StubbedServices
  before(async () => {
    link = await linkTo(process.env.REDIS_CACHE_URL!)
    link.become('cut')
    replicas = await bootReplicas({ REDIS_CACHE_URL: link.url })
    services = replicas[0]!.services
  })
  after(async () => {
    await stopAll(replicas)
    await link.stop()
  })

  it('are counted by each replica alone, no stricter and no laxer', async () => {
    const answers = await Promise.all(Array.from({ length: 120 }, (_, index) => login(replicas[index % 3]!)))
    assert.equal(answers.filter(({ status }) => status === 200).length, 3 * limits.login.requests)
    assert.equal(services.count('login'), 3 * limits.login.requests)
    const text = await replicas[0]!.lifecycle.metrics.registry.metrics()
    assert.match(text, /rollcall_rate_limit_fallbacks_total\{service="gateway"\} [1-9]/)
  })
})

describe('a textbook limiter, by the same count', () => {
  const servers: Server[] = []
  const replicas: { url: string }[] = []
  before(async () => {
    for (let replica = 0; replica < 3; replica++) {
      const app = express().set('trust proxy', true)
      const { requests: limit, windowSeconds } = limits.login
      app.use(rateLimit({ limit, windowMs: windowSeconds * 1000, validate: false }), (_request, response) => {
        response.json({})
      })
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      servers.push(server)
      replicas.push({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    }
  })
  after(() => {
    for (const server of servers) server.close().closeAllConnections()
  })

  it('admits more than the limit, and lets forged addresses pass', async () => {
    assert.equal(await countAdmitted(replicas, fromOne), 3 * limits.login.requests)
    assert.equal(await countAdmitted(replicas, forged), forged.length)
  })
})
