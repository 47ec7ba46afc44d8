import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type {
  DeliveryDetailsJson,
  DeliveryJson,
  LoggedEventJson,
  WebhookJson,
} from '@rollcall/protos/gen/webhooks-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { type Receiver, startReceiver } from '@rollcall/testing/receiver'
import { MongoClient, ObjectId } from 'mongodb'
import { Webhook as Verifier } from 'standardwebhooks'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type Created = WebhookJson & { secret: string }
type Page<T> = { docs: T[]; totalDocs: number }
type Refusal = { message: string; path?: string }
type Body = { id: string; type: string; timestamp: string; organization: string; data: Record<string, unknown> }

const UNKNOWN_ID = 'f'.repeat(24)
const PATH = '/api/webhooks'
/** Webhooks of an organization. */
const LIMIT = 5

describe('webhooks and the event log', () => {
  const started = new AsyncDisposableStack()
  let stack: TestStack
  let owner: Api
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
    started.defer(receiver.stop)
    const settings = {
      REGISTRATION: 'open',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      WEBHOOK_RETRY_MS: '20',
      WEBHOOK_ENDPOINTS: String(LIMIT),
    }
    stack = await startStack({ settings })
    started.defer(stack.stop)
    owner = stack.owner
  })
  after(() => started.disposeAsync())
  beforeEach(() => {
    receiver.answer({ status: 204 })
    receiver.requests.splice(0)
  })

  afterEach(async () => {
    const { docs } = await bodyOf(owner.get<Page<WebhookJson>>(PATH))
    for (const { id } of docs) await remove(id)
  })

  let number = 0
  const create = (fields: object = {}, api = owner) =>
    bodyOf(api.post<Created>(PATH, { name: `hook ${number++}`, url: `${receiver.url}/${number}`, ...fields }), 201)
  const remove = (id: string) => bodyOf(owner.delete(`${PATH}/${id}`))
  const contact = (api = owner) =>
    bodyOf(
      api.post<{ id: string; email: string }>('/api/audience', { email: `c${number++}@example.com`, name: 'C' }),
      201,
    )
  const ownOrganization = async () =>
    (await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))).organization
  const until = <T>(look: () => T | undefined | Promise<T | undefined>) => eventually<T>('the webhook gets there', look)
  /** Waits until the receiver got an event at the path of a webhook, and returns what it got. */
  const received = (url: string, subject: string, count = 1) =>
    until(() => {
      const mine = receiver.requests.filter(({ path, body }) => url.endsWith(path) && body.includes(subject))
      return mine.length >= count ? mine : undefined
    })
  const deliveriesOf = async (id: string) =>
    (await bodyOf(owner.get<Page<DeliveryJson>>(`${PATH}/${id}/deliveries`))).docs
  const refused = async (answer: Promise<{ status: number; body: unknown }>, status: number, path?: string) => {
    const { status: actual, body } = await answer
    assert.deepEqual([actual, (body as Refusal).path], [status, path], JSON.stringify(body))
    return (body as Refusal).message
  }

  describe('delivery', () => {
    it('sends each event signed, to every endpoint that receives its type', async () => {
      const [all, some, others] = await Promise.all([
        create({ headers: { 'X-Key': 'k' } }),
        create({ eventTypes: ['contact.created'] }),
        create({ eventTypes: ['list.created'] }),
      ])
      const { id: contactId } = await contact()
      const [toAll] = await received(all.url, contactId)
      const [toSome] = await received(some.url, contactId)
      assert.equal(toAll!.body, toSome!.body)
      assert.equal(toAll!.headers['x-key'], 'k')
      const body = new Verifier(all.secret).verify(toAll!.body, toAll!.headers as Record<string, string>) as Body
      assert.throws(() => new Verifier(some.secret).verify(toAll!.body, toAll!.headers as Record<string, string>))
      assert.equal(body.type, 'contact.created')
      assert.equal(body.id, toAll!.headers['webhook-id'])
      assert.equal((body.data.contact as { id: string }).id, contactId)
      const logged = await bodyOf(owner.get<LoggedEventJson>(`/api/events/${body.id}`))
      assert.deepEqual([logged.type, logged.data], [body.type, body.data])
      const [delivery] = await until(async () => {
        const found = await deliveriesOf(some.id)
        return found[0]?.state === 'delivered' ? found : undefined
      })
      assert.deepEqual(
        [delivery!.event.type, delivery!.attemptCount, delivery!.lastStatus],
        ['contact.created', 1, 204],
      )
      assert.ok(!receiver.requests.some(({ path }) => others.url.endsWith(path)))
      for (const { id } of [all, some, others]) await remove(id)
    })

    it('tries again with the same id and bytes until the endpoint accepts', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      receiver.answer(() => ({ status: receiver.requests.length < 3 ? 500 : 200, body: 'broken\nline' }))
      const { id: contactId } = await contact()
      const attempts = await received(hook.url, contactId, 3)
      assert.equal(new Set(attempts.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size, 1)
      const delivery = await until(async () => {
        const [found] = await deliveriesOf(hook.id)
        return found?.state === 'delivered' ? found : undefined
      })
      const shown = await bodyOf(owner.get<DeliveryDetailsJson>(`${PATH}/deliveries/${delivery.id}`))
      assert.deepEqual(
        shown.attempts.map(({ status, error, trigger }) => [status, error, trigger]),
        [
          [200, null, 'auto'],
          [500, 'the endpoint answered 500: broken', 'auto'],
          [500, 'the endpoint answered 500: broken', 'auto'],
        ],
      )
      assert.equal(shown.request.body, attempts[0]!.body)
      assert.equal(shown.attemptCount, 3)
      const healthy = await bodyOf(owner.get<WebhookJson>(`${PATH}/${hook.id}`))
      assert.deepEqual([healthy.failingSince, healthy.pending], [null, 0])
      assert.ok(healthy.lastSuccessAt && healthy.lastFailureAt)
      await remove(hook.id)
    })

    it('sends what failed again, one delivery by replay or all of a period', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      receiver.answer({ status: 503 })
      const { id: contactId } = await contact()
      await received(hook.url, contactId, 2)
      const [failing] = await deliveriesOf(hook.id)
      receiver.answer({ status: 200, body: 'thanks' })
      const replayed = await bodyOf(owner.post<DeliveryDetailsJson>(`${PATH}/deliveries/${failing!.id}/replay`, {}))
      const [attempt] = replayed.attempts
      assert.deepEqual([attempt!.trigger, attempt!.status, attempt!.responseBody], ['manual', 200, 'thanks'])
      assert.equal(replayed.state, 'delivered')
      await remove(hook.id)
    })

    it('recovers events that came while an endpoint was off', async () => {
      const hook = await create({ eventTypes: ['contact.created'], active: false })
      const since = new Date(Date.now() - 60_000)
      const { id: contactId } = await contact()
      await until(async () => {
        const { totalDocs } = await bodyOf(
          owner.get<Page<unknown>>('/api/events', { filter: { 'subject.id': contactId } }),
        )
        return totalDocs > 0 || undefined
      })
      await bodyOf(owner.patch(`${PATH}/${hook.id}`, { active: true }))
      const recover = (body: object) => owner.post<{ scheduled: number }>(`${PATH}/${hook.id}/recover`, body)
      assert.equal((await bodyOf(recover({ since }))).scheduled, 0)
      assert.ok((await bodyOf(recover({ since, missed: true }))).scheduled >= 1)
      await received(hook.url, contactId)
      assert.equal((await bodyOf(recover({ since, missed: true }))).scheduled, 0)
      await refused(recover({ since: new Date(Date.now() - 15 * 24 * 3_600_000) }), 400, 'since')
      await remove(hook.id)
    })

    it('switches an endpoint off that answers 410', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      receiver.answer({ status: 410 })
      const { id: contactId } = await contact()
      await received(hook.url, contactId)
      const gone = await until(async () => {
        const found = await bodyOf(owner.get<WebhookJson>(`${PATH}/${hook.id}`))
        return found.active ? undefined : found
      })
      assert.deepEqual([gone.disabledReason, typeof gone.disabledAt], ['gone', 'string'])
      assert.match(await refused(owner.post(`${PATH}/${hook.id}/recover`, { since: new Date() }), 409), /is off/)
      await bodyOf(owner.patch(`${PATH}/${hook.id}`, { active: true }))
      receiver.answer({ status: 204 })
      const { scheduled } = await bodyOf(
        owner.post<{ scheduled: number }>(`${PATH}/${hook.id}/recover`, { since: new Date(Date.now() - 60_000) }),
      )
      assert.ok(scheduled >= 1)
      await received(hook.url, contactId, 2)
      await remove(hook.id)
    })

    it('sends a test at once and says what the endpoint answered', async () => {
      const hook = await create({ active: false })
      receiver.answer({ status: 200, body: 'hello' })
      const { message } = await bodyOf(
        owner.post<{ message: string }>(`${PATH}/${hook.id}/test`, { type: 'list.created' }),
      )
      assert.equal(message, '200 hello')
      const { body, headers } = receiver.requests.at(-1)!
      const sent = new Verifier(hook.secret).verify(body, headers as Record<string, string>) as Body & { test: boolean }
      assert.deepEqual([sent.type, sent.test], ['list.created', true])
      receiver.answer({ status: 404, body: 'nothing here' })
      assert.equal(
        await refused(owner.post(`${PATH}/${hook.id}/test`, {}), 400),
        'the endpoint answered 404: nothing here',
      )
      const [failed] = await deliveriesOf(hook.id)
      assert.deepEqual([failed!.test, failed!.state], [true, 'failed'])
      assert.equal((await bodyOf(owner.get<WebhookJson>(`${PATH}/${hook.id}`))).lastFailureAt, null)
      await refused(owner.post(`${PATH}/${hook.id}/test`, { type: 'no.such' }), 400, 'type')
      await remove(hook.id)
    })

    it('signs with the old secret as well during the overlap', async () => {
      const hook = await create({ active: false })
      const { secret } = await bodyOf(owner.post<Created>(`${PATH}/${hook.id}/rotate-secret`, { overlapHours: 1 }))
      assert.notEqual(secret, hook.secret)
      await bodyOf(owner.post(`${PATH}/${hook.id}/test`, {}))
      const both = receiver.requests.at(-1)!
      for (const each of [secret, hook.secret])
        assert.ok(new Verifier(each).verify(both.body, both.headers as Record<string, string>))
      const third = await bodyOf(owner.post<Created>(`${PATH}/${hook.id}/rotate-secret`, { overlapHours: 1 }))
      const fourth = await bodyOf(owner.post<Created>(`${PATH}/${hook.id}/rotate-secret`, { overlapHours: 1 }))
      await bodyOf(owner.post(`${PATH}/${hook.id}/test`, {}))
      const three = receiver.requests.at(-1)!
      for (const each of [fourth.secret, third.secret, secret])
        assert.ok(new Verifier(each).verify(three.body, three.headers as Record<string, string>))
      assert.throws(() => new Verifier(hook.secret).verify(three.body, three.headers as Record<string, string>))
      const last = await bodyOf(owner.post<Created>(`${PATH}/${hook.id}/rotate-secret`, { overlapHours: 0 }))
      await bodyOf(owner.post(`${PATH}/${hook.id}/test`, {}))
      const one = receiver.requests.at(-1)!
      assert.ok(new Verifier(last.secret).verify(one.body, one.headers as Record<string, string>))
      for (const each of [fourth.secret, third.secret, secret])
        assert.throws(() => new Verifier(each).verify(one.body, one.headers as Record<string, string>))
      await refused(owner.post(`${PATH}/${hook.id}/rotate-secret`, { overlapHours: 169 }), 400, 'overlapHours')
      await remove(hook.id)
    })
  })

  describe('endpoints', () => {
    it('show neither secret nor header values', async () => {
      const made = await create({ active: false, headers: { Authorization: 'Bearer hidden-value' } })
      assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      const shown = await owner.get<WebhookJson>(`${PATH}/${made.id}`)
      assert.ok(!shown.text.includes(made.secret) && !shown.text.includes('hidden-value'))
      assert.deepEqual([shown.body.headers, shown.body.disabledReason], [['authorization'], 'user'])
      await bodyOf(owner.patch(`${PATH}/${made.id}`, { headers: { authorization: null, 'x-more': 'a b' } }))
      await bodyOf(owner.post(`${PATH}/${made.id}/test`, {}))
      const { headers } = receiver.requests.at(-1)!
      assert.deepEqual([headers.authorization, headers['x-more']], ['Bearer hidden-value', 'a b'])
      const { docs } = await bodyOf(owner.get<Page<WebhookJson>>(PATH, { filter: { name: made.name } }))
      assert.deepEqual(
        docs.map(({ id, pending }) => [id, pending]),
        [[made.id, 0]],
      )
      await remove(made.id)
      await refused(owner.get(`${PATH}/${made.id}`), 404)
    })

    it('refuse what they cannot use, and name the field', async () => {
      const cases: [object, string][] = [
        [{ name: '' }, 'name'],
        [{ url: 'nonsense' }, 'url'],
        [{ url: 'ftp://example.com/' }, 'url'],
        [{ url: 'https://user@example.com/' }, 'url'],
        [{ url: 'https://example.com/#part' }, 'url'],
        [{ eventTypes: ['contact.created', 'no.such'] }, 'eventTypes.1'],
        [{ headers: { Host: 'x' } }, 'headers.Host'],
        [{ headers: { 'webhook-id': 'x' } }, 'headers.webhook-id'],
        [{ headers: { 'x-a': 'line\nbreak' } }, 'headers.x-a'],
        [{ headers: { 'x a': 'b' } }, 'headers.x a'],
      ]
      for (const [fields, path] of cases)
        await refused(owner.post(PATH, { name: 'n', url: `${receiver.url}/n`, ...fields }), 400, path)
      const { totalDocs } = await bodyOf(owner.get<Page<WebhookJson>>(PATH))
      assert.equal(totalDocs, 0)
    })

    it('are unknown to others and after deletion', async () => {
      for (const path of ['', '/deliveries', '/stats']) await refused(owner.get(`${PATH}/${UNKNOWN_ID}${path}`), 404)
      await refused(owner.get(`${PATH}/deliveries/${UNKNOWN_ID}`), 404)
      await refused(owner.post(`${PATH}/deliveries/${UNKNOWN_ID}/replay`, {}), 404)
      await refused(owner.patch(`${PATH}/${UNKNOWN_ID}`, { name: 'n' }), 404)
      await refused(owner.delete(`${PATH}/${UNKNOWN_ID}`), 404)
      await refused(owner.get(`/api/events/${UNKNOWN_ID}`), 404)
    })

    it('need events.read to receive more', async () => {
      const grants = { webhooks: ['read', 'create', 'update', 'delete'] }
      await bodyOf(owner.post('/api/access-control/save-role', { name: 'hooks', kind: 'api', permissions: grants }))
      const { api } = await makeToken(owner, { role: 'hooks' })
      await refused(api.post(PATH, { name: 'n', url: `${receiver.url}/n` }), 403)
      const hook = await create({ eventTypes: ['list.created'], active: false })
      await refused(api.patch(`${PATH}/${hook.id}`, { eventTypes: [] }), 403)
      await refused(api.patch(`${PATH}/${hook.id}`, { url: `${receiver.url}/elsewhere` }), 403)
      await bodyOf(api.patch(`${PATH}/${hook.id}`, { name: 'renamed' }))
      await remove(hook.id)
    })

    it('count deliveries by hour, and describe every event type', async () => {
      const hook = await create({ active: false })
      const stats = await bodyOf(
        owner.get<{ at: string; delivered: number }[]>(`${PATH}/${hook.id}/stats`, { hours: 3 }),
      )
      assert.deepEqual([stats.length, stats.every(({ delivered }) => delivered === 0)], [3, true])
      await refused(owner.get(`${PATH}/${hook.id}/stats`, { hours: 721 }), 400, 'hours')
      const types = await bodyOf(owner.get<{ type: string; example: Body; schema: object }[]>(`${PATH}/event-types`))
      const created = types.find(({ type }) => type === 'contact.created')!
      assert.deepEqual([created.example.type, typeof created.example.data], ['contact.created', 'object'])
      await remove(hook.id)
    })
  })

  describe('every status', () => {
    const url = () => `${receiver.url}/status`
    const since = () => new Date(Date.now() - 60_000)

    it('201 and 200: does not hear of its own creation, but of the next', async () => {
      const [first] = [await create({ eventTypes: [] })]
      const second = await create({ active: false })
      const [heard] = await received(first.url, `"_id":"${second.id}"`)
      assert.equal(JSON.parse(heard!.body).type, 'webhook.created')
      assert.ok(!receiver.requests.some(({ body }) => body.includes(`"_id":"${first.id}"`)))
      for (const { id } of [first, second]) await remove(id)
    })

    it('200: shows since when and why it is off, and starts clean when it is switched on', async () => {
      const hook = await create()
      await bodyOf(owner.patch(`${PATH}/${hook.id}`, { active: false, description: 'off' }))
      const shown = () => bodyOf(owner.get<WebhookJson>(`${PATH}/${hook.id}`))
      const off = await shown()
      assert.deepEqual([off.active, off.disabledReason, off.description], [false, 'user', 'off'])
      await contact()
      await bodyOf(owner.patch(`${PATH}/${hook.id}`, { active: true }))
      const on = await shown()
      assert.deepEqual([on.active, on.disabledAt, on.disabledReason, on.failingSince], [true, null, null, null])
      await remove(hook.id)
    })

    it('200: counts deliveries and failures by hour, tests not, and lists deliveries by state', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      const { id: contactId } = await contact()
      await received(hook.url, contactId)
      await until(async () => (await deliveriesOf(hook.id))[0]?.state === 'delivered' || undefined)
      await bodyOf(owner.post(`${PATH}/${hook.id}/test`, {}))
      const stats = await bodyOf(
        owner.get<{ delivered: number; failed: number }[]>(`${PATH}/${hook.id}/stats`, { hours: 2 }),
      )
      const sum = (key: 'delivered' | 'failed') => stats.reduce((total, each) => total + each[key], 0)
      const ofState = (filter: object) =>
        bodyOf(owner.get<Page<DeliveryJson>>(`${PATH}/${hook.id}/deliveries`, { filter }))
      const { totalDocs: delivered } = await ofState({ state: 'delivered', test: false })
      assert.ok(delivered >= 1)
      assert.deepEqual([sum('delivered'), sum('failed')], [delivered, 0])
      assert.equal((await ofState({ state: 'failed' })).totalDocs, 0)
      await refused(owner.get(`${PATH}/${hook.id}/deliveries`, { filter: { nothing: 1 } }), 400, 'filter')
      await remove(hook.id)
    })

    it('200: replays what was delivered, with the same id and bytes', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      const { id: contactId } = await contact()
      await received(hook.url, contactId)
      const delivery = await until(async () => {
        const [found] = await deliveriesOf(hook.id)
        return found?.state === 'delivered' ? found : undefined
      })
      const replayed = await bodyOf(owner.post<DeliveryDetailsJson>(`${PATH}/deliveries/${delivery.id}/replay`, {}))
      assert.deepEqual([replayed.state, replayed.attemptCount], ['delivered', 2])
      const [first, again] = await received(hook.url, contactId, 2)
      assert.deepEqual([again!.headers['webhook-id'], again!.body], [first!.headers['webhook-id'], first!.body])
      await remove(hook.id)
      await refused(owner.get(`${PATH}/deliveries/${delivery.id}`), 404)
      await refused(owner.post(`${PATH}/deliveries/${delivery.id}/replay`, {}), 404)
    })

    /** Stores events in the log as of one moment. */
    const storeEvents = async (count: number, type: string, data = {}) => {
      const [organization, at] = [new ObjectId((await ownOrganization()).id), new Date()]
      const entry = { organization, type, at, data: JSON.stringify(data), expiresAt: new Date(Date.now() + 3_600_000) }
      const actor = { kind: 'system', id: null, name: 'test' }
      const subject = { kind: 'list', id: UNKNOWN_ID, name: null }
      await using client = new MongoClient(stack.backing.MONGODB_URL)
      const events = client.db(`${stack.namespace}rollcall_webhooks`).collection('events')
      await events.insertMany(Array.from({ length: count }, () => ({ _id: new ObjectId(), ...entry, actor, subject })))
      return { since: at, until: at, missed: true }
    }
    const recover = async (id: string, period: object) =>
      (await bodyOf(owner.post<{ scheduled: number }>(`${PATH}/${id}/recover`, period))).scheduled

    it('200: recovers events of one moment, however many there are', async () => {
      const hook = await create({ eventTypes: ['list.created'] })
      assert.equal(await recover(hook.id, await storeEvents(1001, 'list.created')), 1001)
      await remove(hook.id)
    })

    it('200: sends what is too large as the id of its subject', async () => {
      const hook = await create({ eventTypes: ['list.deleted'] })
      assert.equal(await recover(hook.id, await storeEvents(1, 'list.deleted', { text: 'x'.repeat(64 * 1024) })), 1)
      const [sent] = await received(hook.url, UNKNOWN_ID)
      assert.deepEqual((JSON.parse(sent!.body) as Body).data, { id: UNKNOWN_ID, truncated: true })
      await remove(hook.id)
    })

    it('400: names what is missing or out of range', async () => {
      const hook = await create({ active: false, eventTypes: ['list.created'] })
      const own = `${PATH}/${hook.id}`
      const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, 'a']))
      const cases: [Promise<{ status: number; body: unknown }>, string | undefined][] = [
        [owner.post(PATH, { url: url() }), 'name'],
        [owner.post(PATH, { name: 'n' }), 'url'],
        [owner.post(PATH, { name: 'n', url: url(), headers: many }), 'headers'],
        [owner.post(PATH, { name: 'n', url: url(), headers: { 'x-a': null } }), 'headers.x-a'],
        [owner.patch(own, {}), undefined],
        [owner.patch(own, { name: '' }), 'name'],
        [owner.patch(own, { url: 'ftp://example.com/' }), 'url'],
        [owner.patch(own, { eventTypes: ['no.such'] }), 'eventTypes.0'],
        [owner.patch(own, { headers: { cookie: 'a' } }), 'headers.cookie'],
        [owner.post(`${own}/rotate-secret`, { overlapHours: -1 }), 'overlapHours'],
        [owner.post(`${own}/recover`, {}), 'since'],
        [owner.post(`${own}/recover`, { since: 'yesterday' }), 'since'],
        [owner.post(`${own}/recover`, { since: since(), until: 'x' }), 'until'],
        [owner.get(`${own}/stats`, { hours: 0 }), 'hours'],
        [owner.get('/api/events/export', { filter: { data: 'x' } }), 'filter'],
        [owner.get('/api/events', { sort: { requestId: 1, nothing: 1 } }), 'sort'],
        [owner.get(`${PATH}/no-id`), 'id'],
        [owner.get('/api/events/no-id'), 'id'],
      ]
      for (const [answer, path] of cases) {
        const { status, body } = await answer
        assert.equal(status, 400, `${path}: ${JSON.stringify(body)}`)
        if (path !== undefined) assert.equal((body as Refusal).path, path, JSON.stringify(body))
      }
      await remove(hook.id)
    })

    it('400: a test says why nothing was reached', async () => {
      const closed = await startReceiver()
      await closed.stop()
      const hook = await create({ active: false, url: closed.url })
      assert.match(await refused(owner.post(`${PATH}/${hook.id}/test`, {}), 400), /^no connection: ECONNREFUSED/)
      receiver.answer({ status: 302, headers: { location: `${receiver.url}/elsewhere` } })
      await bodyOf(owner.patch(`${PATH}/${hook.id}`, { url: url() }))
      assert.match(await refused(owner.post(`${PATH}/${hook.id}/test`, {}), 400), /answered 302/)
      assert.ok(!receiver.requests.some(({ path }) => path === '/elsewhere'))
      await remove(hook.id)
    })

    it('403: who may not read events recovers none; no more webhooks than the limit', async () => {
      const grants = { webhooks: ['read', 'create', 'update'] }
      await bodyOf(owner.post('/api/access-control/save-role', { name: 'hooks2', kind: 'api', permissions: grants }))
      const { api } = await makeToken(owner, { role: 'hooks2' })
      const hook = await create()
      await refused(api.post(`${PATH}/${hook.id}/recover`, { since: since() }), 403)
      await refused(api.get('/api/events'), 403)
      const others = await Promise.all(Array.from({ length: LIMIT - 1 }, () => create({ active: false })))
      const { status, body } = await owner.post(PATH, { name: 'n', url: url() })
      assert.deepEqual([status, body], [403, { success: false, message: `at most ${LIMIT} webhooks per organization` }])
      for (const { id } of [hook, ...others]) await remove(id)
    })

    it('404: unknown webhooks, also of another organization, and events of tests', async () => {
      const hook = await create({ active: false })
      await bodyOf(owner.post(`${PATH}/${hook.id}/test`, {}))
      const [tested] = await deliveriesOf(hook.id)
      assert.equal(await refused(owner.post(`${PATH}/deliveries/${tested!.id}/replay`, {}), 404), 'event not found')
      const person = {
        name: 'S',
        email: 'stranger@example.com',
        password: 'made for tests only',
        organization: 'Other',
      }
      const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', person), 201)
      const stranger = stack.api.as(token)
      for (const [by, id, delivery] of [
        [owner, UNKNOWN_ID, UNKNOWN_ID],
        [stranger, hook.id, tested!.id],
      ] as const) {
        for (const path of ['', '/deliveries', '/stats']) await refused(by.get(`${PATH}/${id}${path}`), 404)
        await refused(by.patch(`${PATH}/${id}`, { name: 'n' }), 404)
        await refused(by.delete(`${PATH}/${id}`), 404)
        for (const action of ['rotate-secret', 'test']) await refused(by.post(`${PATH}/${id}/${action}`, {}), 404)
        await refused(by.post(`${PATH}/${id}/recover`, { since: since() }), 404)
        await refused(by.get(`${PATH}/deliveries/${delivery}`), 404)
        await refused(by.post(`${PATH}/deliveries/${delivery}/replay`, {}), 404)
      }
      await remove(hook.id)
    })

    it('409: a secret is shown once, whatever the key of the request', async () => {
      const keyed = owner.with({ 'idempotency-key': `hook-${number++}` })
      const made = await bodyOf(keyed.post<Created>(PATH, { name: 'once', url: url(), active: false }), 201)
      const again = await keyed.post(PATH, { name: 'once', url: url(), active: false })
      assert.equal(again.status, 409)
      assert.ok(!again.text.includes(made.secret))
      const { totalDocs } = await bodyOf(owner.get<Page<WebhookJson>>(PATH, { filter: { name: 'once' } }))
      assert.equal(totalDocs, 1)
      await remove(made.id)
    })
  })

  describe('the event log', () => {
    const find = (filter: object) =>
      until(async () => {
        const { docs } = await bodyOf(owner.get<Page<LoggedEventJson>>('/api/events', { filter }))
        return docs.length > 0 ? docs : undefined
      })

    it('says who did what, with which credential, and from where', async () => {
      const { id: tokenId, api } = await makeToken(owner, { name: 'the importer' })
      const made = await Promise.all([contact(api), contact(owner), contact(api)])
      const logged = await Promise.all(made.map(({ id }) => find({ 'subject.id': id })))
      const [byToken, byOwner] = logged.map(([event]) => event!)
      assert.deepEqual(byToken!.actor, { kind: 'token', id: tokenId, name: 'the importer' })
      assert.deepEqual(byToken!.credential, { kind: 'token', id: tokenId })
      assert.deepEqual([byOwner!.actor.kind, byOwner!.credential!.kind], ['user', 'session'])
      assert.equal(byToken!.ip, '127.0.0.1')
      assert.deepEqual(byToken!.subject, { kind: 'contact', id: made[0]!.id, name: 'C' })
      assert.equal(new Set(logged.map(([event]) => event!.requestId)).size, 3)
      await bodyOf(owner.patch(`/api/audience/${made[0]!.id}/block`, {}))
      const [blocked] = await find({ type: 'contact.blocked', 'subject.id': made[0]!.id })
      assert.equal(blocked!.subject.name, 'C')
    })

    it('says what an update changed', async () => {
      const { id } = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: 'Before' }), 201)
      await bodyOf(owner.patch(`/api/audience-lists/${id}`, { name: 'After', tags: ['a'] }))
      const [updated] = await find({ type: 'list.updated', 'subject.id': id })
      assert.deepEqual(updated!.changes, { name: { from: 'Before', to: 'After' }, tags: { from: [], to: ['a'] } })
      assert.ok(!('changes' in updated!.data))
      const [created] = await find({ type: 'list.created', 'subject.id': id })
      assert.equal(created!.changes, null)
    })

    it('has the refusals of a token, one a minute', async () => {
      const { id, api } = await makeToken(owner, { name: 'switched off' })
      await bodyOf(owner.patch(`/api/tokens/${id}`, { active: false }))
      for (let times = 0; times < 3; times++) await bodyOf(api.get('/api/audience'), 401)
      const refusals = await find({ type: 'token.refused' })
      assert.deepEqual(
        refusals.map(({ actor, ip, data }) => [actor, ip, data.reason]),
        [[{ kind: 'token', id, name: 'switched off' }, '127.0.0.1', 'token.invalid']],
      )
    })

    it('has each export, with the number of contacts that matched', async () => {
      const { email } = await contact()
      const filter = JSON.stringify({ email })
      await bodyOf(owner.get('/api/audience/export', { filter }))
      const [exported] = await find({ type: 'audience.exported' })
      assert.deepEqual([exported!.data.matched, exported!.data.filter], [1, filter])
    })

    it('has no names of contacts and users who were deleted', async () => {
      const password = 'made for tests only'
      const email = `gone${number++}@example.com`
      const user = await bodyOf(
        owner.post<{ id: string }>('/api/users', { name: 'Gone Person', email, password, role: 'owner' }),
        201,
      )
      const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/login', { email, password }))
      const { id } = await contact(stack.api.as(token))
      await find({ type: 'contact.created', 'subject.id': id, 'subject.name': 'C', 'actor.name': 'Gone Person' })
      await bodyOf(owner.delete(`/api/audience/${id}`))
      await bodyOf(owner.delete(`/api/users/${user.id}`))
      const [created] = await find({ 'subject.id': id, 'subject.name': null, 'actor.name': '[erased]' })
      assert.deepEqual([created!.type, created!.actor.id], ['contact.created', user.id])
      for (const [type, subject] of [
        ['contact.deleted', id],
        ['user.created', user.id],
        ['user.deleted', user.id],
      ])
        assert.equal((await find({ type, 'subject.id': subject, 'subject.name': null })).length, 1)
    })

    it('keeps events as long as the organization chose', async () => {
      await contact()
      await bodyOf(owner.patch('/api/settings', { eventRetentionDays: 7 }))
      await using client = new MongoClient(stack.backing.MONGODB_URL)
      const events = client.db(`${stack.namespace}rollcall_webhooks`).collection('events')
      const organization = new ObjectId((await ownOrganization()).id)
      const days = await until(async () => {
        const stored = await events.find({ organization, type: { $ne: 'settings.updated' } }).toArray()
        const kept = new Set(stored.map(({ at, expiresAt }) => (expiresAt - at) / (24 * 3_600_000)))
        return kept.size === 1 && !kept.has(90) ? kept : undefined
      })
      assert.deepEqual([...days], [7])
    })

    it('and its deliveries have a time at which the database deletes them', async () => {
      const hook = await create({ eventTypes: ['contact.created'] })
      const { id: contactId } = await contact()
      await received(hook.url, contactId)
      await using client = new MongoClient(stack.backing.MONGODB_URL)
      const db = client.db(`${stack.namespace}rollcall_webhooks`)
      for (const name of ['events', 'deliveries', 'attempts']) {
        const records = await until(async () => {
          const found = await db.collection(name).find({}).toArray()
          return found.length > 0 ? found : undefined
        })
        const limit = Date.now() + (name === 'events' ? 365 : 30) * 24 * 3_600_000
        assert.ok(records.every(({ expiresAt }) => expiresAt.getTime() <= limit))
        const indexes = await db.collection(name).indexes()
        assert.ok(indexes.some(({ key, expireAfterSeconds }) => key.expiresAt === 1 && expireAfterSeconds === 0))
      }
      await remove(hook.id)
    })

    it('filters, pages and exports', async () => {
      const { id } = await contact()
      const [event] = await find({
        'subject.id': id,
        'actor.kind': 'user',
        at: { $gte: new Date(Date.now() - 60_000) },
      })
      const csv = await owner.get<string>('/api/events/export', { filter: { 'subject.id': id } })
      assert.match(csv.text, /^at,type,actor.kind/) // fetch strips the byte order mark
      assert.ok(csv.text.includes(event!.id))
      await refused(owner.get('/api/events', { filter: { nothing: 1 } }), 400, 'filter')
      await refused(owner.delete(`/api/events/${event!.id}`), 404)
    })
  })
})
