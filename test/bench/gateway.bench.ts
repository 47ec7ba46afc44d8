// P1, P2, P3, P7 of the goals: the cost of the gateway. It runs complete, with a real Redis and its access log. Only the
// services behind it are stubbed.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { contractRoutes, json, type Route } from '@rollcall/contract'
import {
  connectCacheRedis,
  createCredentialCache,
  createSecretHashers,
  createSessionJwt,
  formatToken,
  generateSecret,
  parseHashKeys,
  parseKeyRing,
} from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import type { Client, ServiceName } from '@rollcall/rpc'
import { createLogger, createMetrics } from '@rollcall/runtime'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import jwt from 'jsonwebtoken'
import { batchedLogger } from '../../services/gateway/src/access-log.ts'
import { createApp } from '../../services/gateway/src/app.ts'
import type { Backends } from '../../services/gateway/src/backends.ts'
import { createBounds } from '../../services/gateway/src/bounds.ts'
import type { CachedCredential } from '../../services/gateway/src/claim.ts'
import type { Context } from '../../services/gateway/src/context.ts'
import { startTokenUsage } from '../../services/gateway/src/token-usage.ts'
import { cpuOf, pidByPort } from './cpu.ts'
import { startLoader } from './http-load.ts'
import { atLeast, type Figure, median, sideBySide } from './measure.ts'
import { describeCost, loadOnce } from './side.ts'

const connections = 250
const roundMs = 3_000
const id = 'c0ffee'.repeat(4)
const organizationId = 'badcab'.repeat(4)
const path = `/api/audience/${id}`
const contact = {
  _id: id,
  id,
  email: 'contact.one@example.com',
  name: 'Contact One',
  attributes: { company: 'Example Ltd', seats: 12 },
  tags: ['customer', 'newsletter'],
  unsubscribed: false,
  blocked: false,
  user: null,
  source: 'import',
  emailStatus: 'ok',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}
const finished = json(contact)

/** Measures the gateway and the servers it is compared with. */
export async function run(): Promise<Figure[]> {
  const { whole, withSession, oneRoute, withoutCredential, bare, textbook, close } = await sides()
  const loader = startLoader()
  const redis = await pidByPort(new URL(process.env.REDIS_CACHE_URL!).port)
  const cpu = async () => {
    const { user, system } = process.cpuUsage()
    return { server: (user + system) / 1000, Redis: cpuOf(redis) }
  }
  /** Compares the rates of two servers; names the CPU µs per request, that of both servers from this process. */
  const compare = async (name: string, a: Side, b: Side, goal: number) => {
    const servers = [await start(a.listener), await start(b.listener)] as const
    const costs: Record<string, number>[][] = [[], []]
    const rateOf = async ({ credential }: Side, index: 0 | 1) => {
      const headers = credential ? { Authorization: `Bearer ${credential}` } : {}
      const side = { port: servers[index].port, paths: [path], headers, cpu }
      const { perSecond, cost } = await loadOnce(loader, side, { connections, ms: roundMs })
      costs[index]!.push(cost)
      return perSecond
    }
    const rates = await sideBySide(
      () => rateOf(a, 0),
      () => rateOf(b, 1),
    )
    for (const server of servers) server.stop()
    const textOf = (rate: number, index: 0 | 1) => `${Math.round(rate)}/s, ${describeCost(medianCost(costs[index]!))}`
    const figure = atLeast(name, rates.ratio, goal)
    return { ...figure, measured: `${figure.measured} (${textOf(rates.a, 0)}; beside ${textOf(rates.b, 1)})` }
  }
  try {
    return [
      await compare('P1', whole, bare, 0.6),
      await compare('P2', whole, oneRoute, 0.95),
      await compare('P3', withSession, textbook, 2),
      await compare('P7', whole, withoutCredential, 0.85),
    ]
  } finally {
    loader.stop()
    close()
  }
}

function medianCost(costs: readonly Record<string, number>[]): Record<string, number> {
  const names = Object.keys(costs[0] ?? {})
  return Object.fromEntries(names.map(name => [name, median(costs.map(cost => cost[name]!))]))
}

/** The gateway, parts of it, and the servers it is compared with. */
export async function sides() {
  const url = process.env.REDIS_CACHE_URL
  assert(url, 'REDIS_CACHE_URL is set by the runner')
  const redis = connectCacheRedis({ url, commandTimeoutMs: false, silenceMs: 1_000 })
  await once(redis, 'ready')
  const gateway = await gatewayOn(redis)
  const { token, session } = gateway.credentials
  const all = contractRoutes().routes
  const route = all.find(({ verb, path }) => verb === 'GET' && path === '/api/audience/:id')!
  const whole = gateway.listener(all)
  return {
    whole: { listener: whole, credential: token },
    withSession: { listener: whole, credential: session },
    oneRoute: { listener: gateway.listener([route]), credential: token },
    withoutCredential: { listener: gateway.listener([{ ...route, access: { kind: 'public' } }]) },
    bare: { listener: bareRoute() },
    textbook: textbook(),
    close: () => redis.disconnect(),
  }
}

type Side = { listener: RequestListener; credential?: string }

async function start(listener: RequestListener): Promise<{ port: number; stop(): void }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function bareRoute(): RequestListener {
  const app = express()
  app.get('/api/audience/:id', (_request, response) => void response.type('json').send(finished.data))
  return app
}

/** A textbook server: no layers, limits in memory, a plain text secret. */
function textbook(): Side {
  const secret = randomBytes(32).toString('base64')
  const app = express()
  app.use(express.json())
  app.use(rateLimit({ windowMs: 3_000, limit: 500, standardHeaders: 'draft-6', legacyHeaders: false }))
  app.use((request, response, next) => {
    try {
      jwt.verify(request.headers.authorization?.replace('Bearer ', '') ?? '', secret)
      next()
    } catch {
      response.status(401).send('Unauthorized')
    }
  })
  for (let number = 0; number < 60; number++)
    app.get(`/api/first${number}/:id`, (_request, response) => void response.json({}))
  app.get('/api/audience/:id', (_request, response) => void response.json(contact))
  for (let number = 0; number < 59; number++)
    app.get(`/api/last${number}/:id`, (_request, response) => void response.json({}))
  return { listener: app, credential: jwt.sign({ sub: id, org: organizationId, sid: id }, secret, { expiresIn: '1h' }) }
}

/** The gateway without its services, and credentials that it accepts. */
async function gatewayOn(redis: Context['redis']) {
  const prefix = `bench:${randomUUID()}:`
  const sessionKeys = parseKeyRing(`bench:${randomBytes(32).toString('base64')}`)
  const sessions = createSessionJwt({ keys: sessionKeys, issuer: 'bench', audience: 'bench' })
  const now = Math.floor(Date.now() / 1000)
  const claims = { sub: id, org: organizationId, sid: id, role: 'admin', iat: now, exp: now + 3600 }
  const accessLogger = batchedLogger('info', { onStop: () => {} }, openSync(devNull, 'w'))
  const cache = createCredentialCache<CachedCredential>(redis, { prefix: `${prefix}credential:` })
  await cache.prepare(organizationId)
  const bounds = createBounds({
    BODY_MEMORY_BYTES: 2 ** 30,
    BODY_MEMORY_BYTES_PER_ADDRESS: 2 ** 30,
    ANSWER_MEMORY_BYTES: 2 ** 30,
    CLIENT_TIMEOUT_MS: 30_000,
    STREAM_DEADLINE_MS: 600_000,
    UPLOAD_MAX_BYTES: 2 ** 20,
  })
  const tokenUsage = startTokenUsage({
    identity: { recordUsage: async () => ({}) },
    everyMs: 20_000,
    logger: createLogger({ service: 'gateway' }),
  })
  const listener = (routes: readonly Route[]): RequestListener =>
    createApp({
      routes,
      pages: [],
      backends: stubbedBackends,
      redis,
      limitPrefix: `${prefix}limit:`,
      keptAnswers: { redis, prefix: `${prefix}idempotency:`, maxKeys: { credential: 1, organization: 1 } },
      cache,
      sessions,
      tokenSecrets: createSecretHashers(parseHashKeys(`bench:${randomBytes(32).toString('base64')}`)).token,
      tokenUsage,
      shortLinks: { follow: () => undefined, keep: () => {}, stop: async () => {} },
      tenantServers: { of: () => stubbedBackends.client('rollcall.identity.v1.Credentials'), close: () => {} },
      publicUrl: 'http://localhost',
      consoleOrigins: new Set<string>(),
      consoleDir: '',
      trustProxy: 0,
      deadlineMs: 10_000,
      uploadMaxBytes: 1,
      bounds,
      streamSlots: { take: async () => () => {}, stop: () => {} },
      logger: createLogger({ service: 'gateway' }),
      accessLogger,
      metrics: createMetrics('gateway'),
      isDraining: () => false,
    })
  return {
    listener,
    credentials: { token: formatToken(organizationId, generateSecret()), session: sessions.sign(claims) },
  }
}

const resolved: ResolvedCredential = {
  kind: 'token',
  organizationId,
  userId: id,
  userName: 'Account One',
  tokenId: id,
  tokenName: 'bench',
  role: 'reader',
  permissions: ['audience.read', 'audience.create', 'audience.update', 'audience.delete', 'audience_lists.read'],
  readOnly: false,
  allowedIps: [],
  allowedOrigins: [],
}

const stubbedBackends: Backends = {
  client: <N extends ServiceName>() =>
    ({ resolveToken: async () => resolved, resolveSession: async () => resolved }) as unknown as Client<N>,
  invoker: () => async () => finished,
  ready: async () => {},
  close: () => {},
}
