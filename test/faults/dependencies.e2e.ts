import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort, LOCALHOST, type RunningBacking, startBacking } from '@rollcall/local'
import { pause } from '@rollcall/runtime'
import { type Link, linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { isSoak } from '../soak.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type Fault, inject, type Probe, type Subject, tableLine } from './dependencies.harness.ts'
import { type ReplicaSet, startReplicaSet } from './replica-set.ts'

/** Deadline of every request; longer on a slow machine. In the suite the load comes later, from the files beside it. */
const deadlineMs = isSoak ? scaledTimeout(2000) : Math.max(4000, scaledTimeout(1000))

/** R5 of the goals; the soak tests every mode of every link. */
const faults: Fault[] = [
  { link: 'redis', mode: 'silent' },
  { link: 'mongodb', mode: 'silent' },
  { link: 'mongodb', mode: 'cut' },
  { link: 'mongodb', mode: 'without primary' },
  { link: 'identity', mode: 'cut' },
  { link: 'audience', mode: 'silent' },
  { link: 'queue', mode: 'cut' },
  { link: 'kafka', mode: 'silent' },
]
const moreFaults: Fault[] = [
  { link: 'redis', mode: 'cut' },
  { link: 'redis', mode: 'slow' },
  { link: 'kafka', mode: 'cut' },
  { link: 'kafka', mode: 'slow' },
  { link: 'queue', mode: 'silent' },
  { link: 'queue', mode: 'slow' },
  { link: 'mongodb', mode: 'slow' },
  { link: 'mongodb', mode: 'lagging' },
  { link: 'mongodb', mode: 'losing replies' },
  { link: 'identity', mode: 'silent' },
  { link: 'identity', mode: 'slow' },
  { link: 'audience', mode: 'cut' },
  { link: 'audience', mode: 'slow' },
]

describe('while a dependency is down', () => {
  let stack: TestStack
  let subject: Subject
  let effectOfEvents: Probe
  let kafka: Awaited<ReturnType<typeof startLinkedKafka>>
  let replicaSet: ReplicaSet
  const links: Record<string, Link> = {}

  before(async () => {
    const { REDIS_CACHE_URL = '', REDIS_QUEUE_URL = '' } = process.env
    for (const [name, url] of Object.entries({ redis: REDIS_CACHE_URL, queue: REDIS_QUEUE_URL })) {
      links[name] = await linkTo(url)
    }
    kafka = await startLinkedKafka()
    links.kafka = kafka.link
    replicaSet = await startReplicaSet()
    stack = await startStack({
      settings: {
        KAFKA_BROKERS: kafka.link.url,
        REDIS_CACHE_URL: links.redis!.url,
        REDIS_QUEUE_URL: links.queue!.url,
        MONGODB_URL: replicaSet.url,
        RPC_DEADLINE_MS: String(deadlineMs),
        TRUST_PROXY: '1',
      },
      linked: ['identity', 'audience'],
    })
    Object.assign(links, stack.links)
    subject = { links: { ...links, mongodb: replicaSet }, deadlineMs, probes: await probesOf(stack) }
    effectOfEvents = await effectOf(stack.owner)
  })
  after(async () => {
    await stack?.stop()
    for (const link of Object.values(links)) await link.stop()
    await kafka?.stop()
    await replicaSet?.stop()
  })

  for (const fault of isSoak ? [...faults, ...moreFaults] : faults) {
    it(`answers right or 503 in time, and recovers: ${fault.link} ${fault.mode}`, async () => {
      const probes = fault.link === 'kafka' ? [...subject.probes, effectOfEvents] : subject.probes
      const outcome = await inject({ ...subject, probes }, fault)
      console.log(tableLine(outcome))
      assert.deepEqual(outcome.violations, [])
    })
  }

  it('is more than a textbook server does, which this harness finds wanting', async () => {
    const naive = await startNaive()
    try {
      const outcome = await inject(naive.subject, { link: 'redis', mode: 'silent' })
      assert.notDeepEqual(outcome.violations, [])
    } finally {
      await naive.stop()
    }
  })
})

/** A broker of its own, which advertises the address of the link. */
async function startLinkedKafka() {
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-kafka-'))
  const port = await freePort()
  const link = await linkTo(`${LOCALHOST}:${port}`)
  const cacheDir = process.env.CACHE_DIR ?? join(import.meta.dirname, '../../.cache')
  const advertised = { kafka: Number(link.url.split(':').at(-1)) }
  const options = { cacheDir, dataDir, ports: { kafka: port }, advertised, only: ['kafka'], env: {}, log: () => {} }
  const running: RunningBacking = await startBacking(options)
  return {
    link,
    async stop() {
      await running.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Probes: a cached token, a session, a sign-in, a write, and a revoked token. */
async function probesOf(stack: TestStack): Promise<Probe[]> {
  const { owner, api } = stack
  const token = await makeToken(owner)
  const revoked = await makeToken(owner)
  await bodyOf(revoked.api.get('/api/audience'))
  await bodyOf(owner.delete(`/api/tokens/${revoked.id}`))
  const authorization = await bodyOf(api.post<{ token: string }>('/api/auth/login', OWNER))
  let count = 0

  const ask =
    (method: string, path: string, credential?: string, body?: () => object) => async (signal: AbortSignal) => {
      const { status, body: stream } = await fetch(stack.urls[0] + path, {
        method,
        signal,
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `198.51.${(count >> 8) & 255}.${count++ & 255}`,
          ...(credential !== undefined && { authorization: credential }),
        },
        ...(body && { body: JSON.stringify(body()) }),
      })
      await stream?.cancel()
      return status
    }
  const contact = () => ({ email: `contact-${++count}@example.com` })
  return [
    { name: 'a list with a token', right: 200, ask: ask('GET', '/api/audience', token.token) },
    { name: 'a list with a session', right: 200, ask: ask('GET', '/api/audience', authorization.token) },
    { name: 'who am I', right: 200, ask: ask('GET', '/api/auth/me', authorization.token) },
    { name: 'a new contact', right: 201, ask: ask('POST', '/api/audience', token.token, contact) },
    { name: 'a sign-in', right: 200, ask: ask('POST', '/api/auth/login', undefined, () => OWNER) },
    { name: 'a token that was taken back', right: 401, ask: ask('GET', '/api/audience', revoked.token) },
  ]
}

/**
 * A change of an account, which its contact's timeline shows once its event is consumed. Correct once it shows all
 * changes so far. During the fault, a missing one is not a wrong answer.
 */
async function effectOf(owner: Api): Promise<Probe> {
  const user = await bodyOf(
    owner.post<{ id: string }>('/api/users', { name: 'Account', email: 'one@example.com' }),
    201,
  )
  const contact = await bodyOf(owner.post<{ id: string }>('/api/audience', { email: 'one@example.com' }), 201)
  await bodyOf(owner.patch(`/api/audience/${contact.id}/link-user`, { userId: user.id }))
  let changes = 0
  let asked = 0
  const from = () => owner.with({ 'x-forwarded-for': `198.52.${(asked >> 8) & 255}.${asked++ & 255}` })
  const shown = () =>
    from().get<{ totalDocs: number }>(`/api/audience/${contact.id}/timeline`, { filter: { type: 'user.updated' } })
  return {
    name: 'what an event causes',
    right: 200,
    async ask() {
      const until = Date.now() + deadlineMs
      const changed = await from().patch(`/api/users/${user.id}`, { name: `Account ${asked}` })
      if (changed.status !== 200) return changed.status
      changes++
      while (Date.now() < until) {
        const { status, body } = await shown()
        if (status !== 200) return status
        if (body.totalDocs >= changes) return 200
        await pause(50)
      }
      return 503
    },
  }
}

/** The naive variant: plain clients and one route, which reads a token from Redis and a document from MongoDB. */
async function startNaive(): Promise<{ subject: Subject; stop(): Promise<void> }> {
  const link = await linkTo(process.env.REDIS_CACHE_URL ?? '')
  const redis = new Redis(link.url)
  redis.on('error', () => {})
  const mongo = await new MongoClient(process.env.MONGODB_URL ?? '').connect()
  const read = async () => {
    await redis.get('naive')
    await mongo.db('naive').collection('contacts').findOne({})
  }
  const server = createServer((_request, response) => {
    read().then(
      () => response.end('{}'),
      () => response.writeHead(500).end(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (signal: AbortSignal) => (await fetch(url, { signal })).status
  return {
    subject: { links: { redis: link }, deadlineMs: 500, probes: [{ name: 'a read', right: 200, ask }] },
    async stop() {
      server.closeAllConnections()
      server.close()
      redis.disconnect()
      await mongo.close()
      await link.stop()
    },
  }
}
