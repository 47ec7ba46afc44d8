// W2 to W5 of the goals: how soon webhooks are sent, what endpoints that hang cost the others, which addresses are
// connected to, and whose signatures are accepted. Each service in its own process.
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBus, topics } from '@rollcall/bus'
import type { WebhookJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { createLogger, pause } from '@rollcall/runtime'
import { event } from '@rollcall/store'
import { type ReceivedRequest, startReceiver } from '@rollcall/testing/receiver'
import { Types } from 'mongoose'
import { Webhook as Verifier } from 'standardwebhooks'
import { bodyOf } from '../api.ts'
import { startStack } from '../stack.ts'
import type { Figure } from './measure.ts'

const TYPES = ['contact.updated']
const PER_SECOND = 200
const SECONDS = 10
const MAX_LAG_MS = 2000
/** Of W3: endpoints that are measured, and as many others. */
const HEALTHY = 4
const EVENTS = 250
const GOAL = 0.8
const LIMIT_MS = 600_000
const logger = createLogger({ service: 'bench', level: 'warn', destination: { write: line => console.error(line) } })

type Created = WebhookJson & { secret: string }

/** Measures W2, W3 and W5 with one stack, and W4 with one that allows no private address. */
export async function run(): Promise<Figure[]> {
  return [...(await deliveries()), await addresses()]
}

async function deliveries(): Promise<Figure[]> {
  await using all = new AsyncDisposableStack()
  const receiver = await startReceiver()
  all.defer(receiver.stop)
  const settings = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_PRIVATE: 'true' }
  const stack = await startStack({ processes: true, settings })
  all.defer(stack.stop)
  const { owner, namespace: topicPrefix, backing } = stack
  const me = await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))
  const organization = new Types.ObjectId(me.organization.id)
  const bus = createBus({ brokers: backing.KAFKA_BROKERS.split(','), clientId: 'bench', logger, topicPrefix })
  all.defer(() => bus.close())
  const create = (path: string) =>
    bodyOf(owner.post<Created>('/api/webhooks', { name: path, url: `${receiver.url}${path}`, eventTypes: TYPES }), 201)
  const actor = { kind: 'user', id: 'badcab'.repeat(4), name: 'User One' } as const
  const publish = (count: number) =>
    bus.publish(
      topics.audience,
      Array.from({ length: count }, () => {
        const _id = new Types.ObjectId()
        return event('contact.updated', { _id, organization }, { contactId: _id, changed: ['name'], actor })
      }),
    )
  const until = async (holds: () => boolean) => {
    for (const end = Date.now() + LIMIT_MS; !holds(); await pause(10)) assert.ok(Date.now() < end, 'not delivered')
  }

  /** Publishes at a steady rate. Returns how late each event came to each of two endpoints, and what they got. */
  const steady = async () => {
    const hooks = await Promise.all(['/a', '/b'].map(path => create(path)))
    const lags: number[] = []
    const got: ReceivedRequest[] = []
    receiver.answer(request => {
      lags.push(Date.now() - Date.parse(JSON.parse(request.body).timestamp))
      got.push(request)
      return { status: 204 }
    })
    await publish(1)
    await until(() => lags.length === 2)
    lags.splice(0)
    const startedAt = performance.now()
    for (let made = 0; made < PER_SECOND * SECONDS; await pause(50)) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * PER_SECOND) - made
      if (due > 0) await publish(due)
      made += Math.max(0, due)
    }
    const count = () => new Set(got.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)).size
    await until(() => count() >= 2 * (PER_SECOND * SECONDS + 1))
    const perSecond = lags.length / ((performance.now() - startedAt) / 1000)
    for (const { id } of hooks) await bodyOf(owner.delete(`/api/webhooks/${id}`))
    const secretOf = new Map(hooks.map(({ name, secret }) => [name, secret]))
    return { lags: lags.sort((a, b) => a - b), got, secretOf, perSecond }
  }

  /** Returns the deliveries per second to healthy endpoints. */
  const healthyRate = async () => {
    const before = receiver.requests.filter(({ path }) => path.startsWith('/healthy')).length
    const startedAt = performance.now()
    await publish(EVENTS)
    const got = () => receiver.requests.filter(({ path }) => path.startsWith('/healthy')).length - before
    await until(() => got() >= HEALTHY * EVENTS)
    return (HEALTHY * EVENTS) / ((performance.now() - startedAt) / 1000)
  }

  const { lags, got, secretOf, perSecond } = await steady()
  const p99 = lags[Math.floor(lags.length * 0.99)]!
  const signatures = checkSignatures(got, secretOf)
  const names = Array.from({ length: HEALTHY }, (_, index) => [`/healthy${index}`, `/other${index}`]).flat()
  await Promise.all(names.map(name => create(name)))
  receiver.answer({ status: 204 })
  const allHealthy = await healthyRate()
  await until(() => receiver.requests.filter(({ path }) => path.startsWith('/other')).length >= HEALTHY * EVENTS)
  receiver.answer(({ path }) => (path.startsWith('/other') ? 'hang' : { status: 204 }))
  const halfHang = await healthyRate()
  const ratio = halfHang / allHealthy
  return [
    {
      name: `W2 first attempt after the event, ${PER_SECOND} events/s, 2 endpoints`,
      measured: `p50 ${lags[lags.length >> 1]} ms, p99 ${p99} ms (${Math.round(perSecond)} deliveries/s)`,
      goal: `p99 ≤ ${MAX_LAG_MS} ms`,
      ok: p99 <= MAX_LAG_MS,
    },
    {
      name: 'W3 healthy endpoints while half of all hang, against all healthy',
      measured: `${ratio.toFixed(2)}× (${Math.round(halfHang)} / ${Math.round(allHealthy)} deliveries/s)`,
      goal: `≥ ${GOAL}×`,
      ok: ratio >= GOAL,
    },
    signatures,
  ]
}

/** Verifies each request by the library and by hand; forged ones must be refused. */
function checkSignatures(requests: readonly ReceivedRequest[], secretOf: ReadonlyMap<string, string>): Figure {
  const accepts = (secret: string, body: string, headers: Record<string, string>) => {
    try {
      return new Verifier(secret).verify(body, headers) !== undefined
    } catch {
      return false
    }
  }
  const counts = { right: 0, byHand: 0, forged: 0 }
  for (const { path, body, headers: sent } of requests) {
    const headers = sent as Record<string, string>
    const secret = secretOf.get(path)!
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    if (hmac.update(`${id}.${at}.${body}`).digest('base64') === signature!.slice('v1,'.length)) counts.byHand++
    if (accepts(secret, body, headers)) counts.right++
    const other = `whsec_${Buffer.from(randomUUID()).toString('base64')}`
    const old = { ...headers, 'webhook-timestamp': String(Number(at) - 3600) }
    if (accepts(secret, body.replace('"', "'"), headers)) counts.forged++
    if (accepts(secret, body, old)) counts.forged++
    if (accepts(other, body, headers)) counts.forged++
  }
  const { right, byHand, forged } = counts
  const count = requests.length
  return {
    name: 'W5 signatures',
    measured: `of ${count}, ${right} accepted by standardwebhooks, ${byHand} by hand; ${forged} of ${3 * count} with a changed byte, an old time or another secret`,
    goal: 'all; 0',
    ok: right === count && byHand === count && forged === 0,
  }
}

/** Tries to have the product connect to this machine and to private networks, in many spellings. */
async function addresses(): Promise<Figure> {
  await using all = new AsyncDisposableStack()
  let connections = 0
  const server = createServer((_request, response) => response.end()).on('connection', () => connections++)
  await new Promise<void>(resolve => server.listen(0, resolve))
  all.defer(() => void server.close())
  const { port } = server.address() as AddressInfo
  const stack = await startStack({ settings: { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_PORTS: String(port) } })
  all.defer(stack.stop)
  const hosts = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1'].flatMap(
    spellings,
  )
  hosts.push('localhost', 'a.localhost', 'localhost.', '0', '0.0.0.0', '127.1', '127.0.1', '[::]', '[::1]', '[fd00::1]')
  let accepted = 0
  for (const host of hosts) {
    const { status } = await stack.owner.post('/api/webhooks', { name: host, url: `http://${host}:${port}/` })
    if (status === 201) accepted++
    else assert.equal(status, 400, host)
  }
  const guarded = connections
  const attempts = hosts.map(host => fetch(`http://${host}:${port}/`, { signal: AbortSignal.timeout(2000) }))
  await Promise.allSettled(attempts)
  server.closeAllConnections()
  return {
    name: 'W4 spellings of forbidden addresses',
    measured: `${hosts.length} spellings: ${accepted} accepted, ${guarded} connections; a client without a guard made ${connections - guarded}`,
    goal: '≥ 80 spellings, 0 connections, > 0 without a guard',
    ok: hosts.length >= 80 && accepted === 0 && guarded === 0 && connections > guarded,
  }
}

/** Returns spellings of an IPv4 address that URL parsers know, and IPv6 addresses that lead to it. */
function spellings(address: string): string[] {
  const parts = address.split('.').map(Number)
  const number = parts.reduce((sum, part) => sum * 256 + part, 0)
  const hex = number.toString(16).padStart(8, '0')
  const pair = `${hex.slice(0, 4)}:${hex.slice(4)}`
  const [a, b, c, d] = parts as [number, number, number, number]
  const wide = address.replace(/\d/g, digit => String.fromCodePoint(0xff10 + Number(digit)))
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex}`,
    `0X${hex.toUpperCase()}`,
    `0${number.toString(8)}`,
    parts.map(part => `0x${part.toString(16)}`).join('.'),
    parts.map(part => `0${part.toString(8)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    wide,
    address.replaceAll('.', '。'),
    `[::ffff:${address}]`,
    `[::ffff:${pair}]`,
    `[64:ff9b::${pair}]`,
    `[2002:${pair}::1]`,
  ]
}
