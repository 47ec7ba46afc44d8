import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createBus } from '@rollcall/bus'
import { SERVICES } from '@rollcall/local'
import type { WebhookJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { createLogger, type Event, pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { type ReceivedRequest, type Receiver, startReceiver } from '@rollcall/testing/receiver'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient } from 'mongodb'
import { Webhook as Verifier } from 'standardwebhooks'
import { bodyOf, makeToken } from '../api.ts'
import { counted, isSoak } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'
import { killAtRandom } from './kill-at-random.ts'

/** W1 of the goals: kills of services while events are delivered, and the events. */
const kills = counted(4, 200)
const wanted = Number(process.env.EVENTS ?? (isSoak ? 10_000 : 150))
/** A loaded machine delivers ten a second to an endpoint that fails a third of them. */
const DRAIN_MS = 120_000 + wanted * 100
const peaceMs = isSoak ? 2500 : 1000
/** Contacts that are created at once. */
const CONCURRENCY = 4
/** Of so many requests, the receiver fails one. */
const FAILING = 3
const logger = createLogger({ service: 'test', level: 'silent' })

/** What receivers accepted: the requests by the id of their event. */
type Accepted = Map<string, ReceivedRequest[]>

describe('webhooks under kill -9', { timeout: scaledTimeout(DRAIN_MS + kills * 20_000 + wanted * 100) }, () => {
  const started = new AsyncDisposableStack()
  let stack: TestStack
  let mongo: MongoClient
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
    started.defer(receiver.stop)
    const settings = {
      TRUST_PROXY: '1',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      WEBHOOK_TIMEOUT_MS: '2000',
      WEBHOOK_RETRY_MS: '5',
    }
    stack = await startStack({ processes: true, settings })
    started.defer(stack.stop)
    mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
    started.defer(() => mongo.close())
  })
  after(() => started.disposeAsync())

  /** Fails one request of three, and notes the others. */
  const failSome = (path: string, accepted: Accepted, verifier?: Verifier) => {
    let number = 0
    return (request: ReceivedRequest) => {
      if (request.path !== path) return { status: 404 }
      verifier?.verify(request.body, request.headers as Record<string, string>)
      if (number++ % FAILING === 0) return { status: 500 }
      const id = String(request.headers['webhook-id'])
      accepted.set(id, [...(accepted.get(id) ?? []), request])
      return { status: 204 }
    }
  }

  it('lose no event, sign each request, and repeat only whole deliveries', async () => {
    const { api } = await makeToken(stack.owner)
    const endpoint = { name: 'orders', url: `${receiver.url}/orders`, eventTypes: ['contact.created'] }
    const { secret } = await bodyOf(api.post<WebhookJson & { secret: string }>('/api/webhooks', endpoint), 201)
    const accepted: Accepted = new Map()
    const faults: unknown[] = []
    const answer = failSome('/orders', accepted, new Verifier(secret))
    receiver.answer(request => {
      try {
        return answer(request)
      } catch (error) {
        faults.push(error)
        return { status: 500 }
      }
    })

    let asked = 0
    let created = 0
    let killed = 0
    /** Spreads the events over the kills: a faster client would measure how fast a backlog is delivered. */
    const mayCreate = () => created < wanted * Math.min(1, (killed + 1) / kills)
    const create = async () => {
      while (created < wanted) {
        if (!mayCreate()) {
          await pause(20)
          continue
        }
        const from = api.with({ 'x-forwarded-for': `198.51.${(asked >> 8) & 255}.${asked++ & 255}` })
        const answer = from.post('/api/audience', { email: `${randomUUID()}@example.com` })
        if ((await answer.catch(() => undefined))?.status === 201) created++
        else await pause(20)
      }
    }
    const instances = SERVICES.flatMap(stack.instances).map(({ start, kill }) => ({
      start,
      kill() {
        killed++
        return kill()
      },
    }))
    const killing = killAtRandom(instances, kills, peaceMs)
    await Promise.all([killing, ...Array.from({ length: CONCURRENCY }, create)])
    const drainedFrom = performance.now()

    const contacts = mongo.db(`${stack.namespace}rollcall_audience`).collection('contacts')
    const ids = (await contacts.find({}, { projection: { _id: 1 } }).toArray()).map(({ _id }) => String(_id))
    const missing = () => {
      const told = new Set([...accepted.values()].map(([first]) => JSON.parse(first!.body).data.contact.id))
      return ids.filter(id => !told.has(id))
    }
    await eventually('every event is delivered', () => missing().length === 0, {
      withinMs: DRAIN_MS,
      everyMs: 500,
    }).catch(() => undefined)
    const doubled = [...accepted.values()].filter(requests => requests.length > 1)
    const drainSeconds = Math.round((performance.now() - drainedFrom) / 1000)
    console.log(
      `W1  ${kills} kills, ${ids.length} events, ${receiver.requests.length} requests, the last ${drainSeconds} s after the kills: ${missing().length} lost, ${doubled.length} repeated`,
    )
    assert.ok(ids.length >= wanted)
    assert.deepEqual([missing(), faults], [[], []])
    assert.equal(accepted.size, ids.length, 'repetitions have the id of their event')
    for (const requests of doubled) assert.equal(new Set(requests.map(({ body }) => body)).size, 1)
    // One kill interrupts at most the deliveries that are under way.
    assert.ok(doubled.length <= kills * CONCURRENCY, `${doubled.length} repeated`)
  })

  it('of a sender that posts each event once lose a third', async () => {
    const accepted: Accepted = new Map()
    receiver.answer(failSome('/naive', accepted))
    const seen = new Set<string>()
    const bus = createBus({
      brokers: stack.backing.KAFKA_BROKERS.split(','),
      clientId: 'naive',
      logger,
      topicPrefix: stack.namespace,
    })
    started.defer(() => bus.close())
    const post = async ({ id, type, data }: Event) => {
      if (type !== 'contact.created' || seen.has(id)) return
      seen.add(id)
      const headers = { 'webhook-id': id }
      await fetch(`${receiver.url}/naive`, { method: 'POST', headers, body: JSON.stringify(data) })
    }
    bus.consume({ group: `naive-${randomUUID()}`, topics: ['audience.events'], handle: post })
    await eventually('the naive sender has posted events', () => seen.size >= 50)
    assert.ok(accepted.size < seen.size, 'this harness would not see losses')
  })
})
