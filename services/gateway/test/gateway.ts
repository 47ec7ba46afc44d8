import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { AppError, json } from '@rollcall/contract'
import {
  createSecretHashers,
  createSessionJwt,
  formatToken,
  generateSecret,
  parseHashKeys,
  parseKeyRing,
  type SessionClaims,
} from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import { type Call, newKeySettings, type RpcServer, readTrust, type ServeOptions, serve } from '@rollcall/rpc'
import { createLifecycle, createLogger, type OwnedLifecycle } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { boundedContexts } from '../src/backends.ts'
import { readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'

/** How a stubbed service answers a call. */
export type Behaviour = (request: never, call: Call) => unknown

export const organizationId = 'badcab'.repeat(4)
export const userId = 'decade'.repeat(4)

/** Deadline of calls to services, unless a test sets another. */
export const RPC_DEADLINE_MS = scaledTimeout(2_000)

const base64Key = () => randomBytes(32).toString('base64')
const serviceKeys = newKeySettings(['gateway']).gateway
const keys = { ...serviceKeys, TOKEN_KEY: `test:${base64Key()}`, SESSION_KEYS: `test:${base64Key()}` }
const tokenSecrets = createSecretHashers(parseHashKeys(keys.TOKEN_KEY)).token
const tenantKeys = newKeySettings(['gateway']).gateway
/** Additional settings of a gateway with tenant servers. */
export const tenantSettings = { TENANT_ASSERTION_KEY: tenantKeys.ASSERTION_KEY }
const sessions = createSessionJwt({ keys: parseKeyRing(keys.SESSION_KEYS), issuer: 'rollcall', audience: 'rollcall' })

/** Stubs of the services over real gRPC. A method does what the test sets, or echoes its request. */
export class StubbedServices {
  /** Behaviour of the methods by name. Tests set it. */
  readonly behaviours = new Map<string, Behaviour>()
  /** Calls so far, oldest first. */
  readonly calls: { method: string; request: unknown; call: Call }[] = []
  /** Credentials that identity resolves, by hash or by session id. */
  readonly credentials = new Map<string, ResolvedCredential>()
  server: RpcServer | undefined

  readonly #usual: Record<string, Behaviour> = {
    resolveToken: ({ hashes: [hash] }: { hashes: [string] }) => this.#resolve(hash),
    resolveSession: ({ sessionId }: { sessionId: string }) => this.#resolve(sessionId),
  }

  /** Returns how often a method was called. */
  count(method: string): number {
    return this.calls.filter(call => call.method === method).length
  }

  /** Starts as the services of the installation or as a tenant server. Each trusts another key of the gateway. */
  async start(port = 0, as: 'home' | 'tenant' = 'home'): Promise<number> {
    const audience = ['Contacts', 'Attributes', 'Batches'].map(name => `audience.v1.${name}`)
    const names = [...audience, 'content.v1.Links', 'import.v1.Imports', 'messaging.v1.Senders']
    const identity = ['Authentication', 'Credentials', 'Invitations', 'Members', 'Roles', 'TokenUsage', 'Tokens'].map(
      name => `identity.v1.${name}`,
    )
    const services = Object.fromEntries([...names, ...identity].map(name => [`rollcall.${name}`, this.#handlers()]))
    this.server = await serve({
      services: services as ServeOptions['services'],
      port,
      host: '127.0.0.1',
      trust: readTrust(as === 'home' ? serviceKeys : tenantKeys),
      logger: createLogger({ service: 'stub', level: 'silent' }),
    })
    return this.server.port
  }

  #resolve(id: string): ResolvedCredential {
    const known = this.credentials.get(id)
    if (!known) throw new AppError('token.invalid')
    return known
  }

  #handlers(): object {
    return new Proxy(
      {},
      {
        get: (_target, method: string) => (request: unknown, call: Call) => {
          this.calls.push({ method, request, call })
          const behaviour = this.behaviours.get(method) ?? this.#usual[method]
          return behaviour ? behaviour(request as never, call) : json({ method, request })
        },
      },
    )
  }
}

/** A gateway in this process, on free ports, with its own key prefix in the real Redis. */
export type TestGateway = {
  url: string
  port: number
  services: StubbedServices
  lifecycle: OwnedLifecycle
  /** Parsed lines of its log. */
  log: Record<string, unknown>[]
  stop(): Promise<void>
}

/** Returns the environment of a gateway in front of stubbed services, and starts them if needed. */
export async function gatewayEnvironment(
  settings: Record<string, string>,
  services: StubbedServices,
): Promise<NodeJS.ProcessEnv> {
  const port = services.server?.port ?? (await services.start())
  const addresses = boundedContexts().map(context => [`${context.toUpperCase()}_ADDRESS`, `127.0.0.1:${port}`])
  const prefix = `test:${randomUUID()}:`
  return {
    ...keys,
    ...Object.fromEntries(addresses),
    REDIS_CACHE_URL: process.env.REDIS_CACHE_URL,
    REDIS_QUEUE_URL: process.env.REDIS_QUEUE_URL,
    PORT: '0',
    CREDENTIAL_PREFIX: `${prefix}credential:`,
    LIMIT_PREFIX: `${prefix}limit:`,
    IDEMPOTENCY_PREFIX: `${prefix}idempotency:`,
    RPC_DEADLINE_MS: String(RPC_DEADLINE_MS),
    ...settings,
  }
}

/** Starts a gateway. `settings` are additional environment variables; it stops within `graceMs`. */
export async function bootGateway(
  settings: Record<string, string> = {},
  services = new StubbedServices(),
  { graceMs = 5_000 } = {},
): Promise<TestGateway> {
  await using onFailure = new AsyncDisposableStack()
  onFailure.defer(async () => services.server?.stop())
  const config = readConfig(await gatewayEnvironment(settings, services))
  const log: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) }
  const logger = createLogger({ service: 'gateway', destination })
  const lifecycle = createLifecycle({ service: 'gateway', logger, graceMs })
  onFailure.defer(async () => void (await lifecycle.stop('test is over')))
  const gateway = await service.start(config, lifecycle, { accessLogger: logger })
  lifecycle.health.serving()
  const booted = onFailure.move()
  return {
    port: gateway.port,
    url: `http://127.0.0.1:${gateway.port}`,
    services,
    lifecycle,
    log,
    stop: () => booted.disposeAsync(),
  }
}

/** Returns a token that identity resolves, as a client sends it. */
export function issueToken(services: StubbedServices, known: Partial<ResolvedCredential> = {}): string {
  const secret = generateSecret()
  services.credentials.set(tokenSecrets.hash(secret), resolved({ tokenId: userId, ...known }))
  return formatToken(organizationId, secret)
}

/** Returns a session JWT whose session identity resolves. */
export function issueSession(
  services: StubbedServices,
  claims: Partial<SessionClaims> = {},
  known: Partial<ResolvedCredential> = {},
): string {
  const { sid = randomUUID() } = claims
  services.credentials.set(sid, resolved({ kind: 'session', sessionId: sid, ...known }))
  const now = Math.floor(Date.now() / 1000)
  return sessions.sign({ sub: userId, org: organizationId, sid, role: 'admin', iat: now, exp: now + 600, ...claims })
}

function resolved(known: Partial<ResolvedCredential>): ResolvedCredential {
  return {
    kind: 'token',
    organizationId,
    userId,
    userName: 'Account One',
    role: 'admin',
    permissions: ['*'],
    readOnly: false,
    allowedIps: [],
    allowedOrigins: [],
    ...known,
  }
}

/** Sends raw bytes and reads until the connection closes or `enough` returns true. */
export async function sendRaw(port: number, bytes: string | Buffer, enough = (_: string) => false): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.write(bytes)
  let received = ''
  socket.setEncoding('latin1').on('data', chunk => {
    received += chunk
    if (enough(received)) socket.destroy()
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  return received
}

/** A client over a raw socket. */
export type RawClient = {
  socket: Socket
  /** Text read so far. */
  received(): string
  /** Resolves when the connection is closed, to the milliseconds since it was opened. */
  closed: Promise<number>
  /** Resolves when the text read so far matches. */
  reads(pattern: RegExp): Promise<string>
}

/** Connects from an address of the loopback network. With `isReading: false` it never reads. */
export async function openRaw(port: number, { from = '127.0.0.1', isReading = true } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  const openedAt = performance.now()
  const closed = new Promise<number>(resolve => socket.on('close', () => resolve(performance.now() - openedAt)))
  let text = ''
  if (isReading) {
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
  }
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    received: () => text,
    closed,
    async reads(pattern) {
      let isOver = false
      void closed.then(() => {
        isOver = true
      })
      await eventually(`an answer that matches ${pattern}`, () => isOver || pattern.test(text), { everyMs: 5 })
      if (!pattern.test(text)) throw new Error(`closed after ${JSON.stringify(text.slice(-500))}`)
      return text
    },
  }
}
