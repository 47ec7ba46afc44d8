import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { MessageJson, SuppressionJson } from '@rollcall/protos/gen/messaging-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf, makeToken, signIn } from '../api.ts'
import { fromElsewhere, manyAddresses, unknownId } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'
import { unlimitedMail } from './campaign-world.ts'
import { addDefaultSender, verifiedDomain } from './verified-domain.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Refusal = { message: string; path?: string; error?: boolean }
type Contact = { id: string; email: string; unsubscribed: boolean; emailStatus: string }

const SEND = '/api/emails/send'
const MESSAGES = '/api/emails/messages'
const SUPPRESSIONS = '/api/emails/suppressions'
const PROVIDER = '/api/emails/provider'
const SENDERS = '/api/emails/senders'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PASSWORD = 'made for tests only'
const SIGNING_KEY = 'signing key of the test'

describe('messages and suppressions over HTTP', () => {
  let relay: MailServer
  let mailgun: TestMailgun
  let stack: TestStack
  before(async () => {
    relay = await startMailServer()
    mailgun = await startTestMailgun()
    const servers = { SMTP_URL: `smtp://127.0.0.1:${relay.port}`, MAILGUN_US_URL: mailgun.url }
    stack = await startStack({ settings: { ...manyAddresses, ...unlimitedMail, ...servers } })
    await verifiedDomain(stack, 'mail.example.org')
  })
  after(async () => {
    await stack?.stop()
    await mailgun?.stop()
    await relay?.stop()
  })

  const api = (by: Api = stack.owner) => fromElsewhere(by)
  const content = { subject: 'Hello', text: 'The text.' }
  const send = <T = MessageJson>(body: object, by?: Api) => api(by).post<T>(SEND, { ...content, ...body })
  const get = (id: string) => bodyOf(api().get<MessageJson>(`${MESSAGES}/${id}`))
  const reached = (id: string, status: MessageJson['status']) =>
    eventually(`the message is ${status}`, async () => {
      const message = await get(id)
      return message.status === status && message
    })
  let number = 0
  const newContact = () =>
    bodyOf(api().post<Contact>('/api/audience', { email: `reader-${number++}@example.com`, name: 'Reader' }), 201)
  const contactOf = (id: string) => bodyOf(api().get<Contact>(`/api/audience/${id}`))
  const later = (ms: number) => new Date(Date.now() + ms).toISOString()
  const newSender = async (fields: object = {}, by?: Api) => {
    const sender = { name: 'N', email: `s${number++}@mail.example.org`, delivery: 'hosted', ...fields }
    return (await bodyOf(api(by).post<{ id: string }>(SENDERS, sender), 201)).id
  }

  it('400, 403, 404, 409: refuses a message that cannot be sent, and keeps nothing of it', async () => {
    const missing = await bodyOf(send<Refusal>({ to: 'a@example.com' }), 400)
    assert.equal(missing.message, 'invalid field -> from: there is no default sender')
    await addDefaultSender(stack)
    const { totalDocs } = await bodyOf(api().get<Page<object>>(MESSAGES))
    const blocked = await newContact()
    await bodyOf(api().patch(`/api/audience/${blocked.id}/block`, { reason: 'asked' }))
    const inactive = await newSender()
    await bodyOf(api().patch(`${SENDERS}/${inactive}`, { active: false }))
    const unverified = await newSender()
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    const senders = client.db(`${stack.namespace}rollcall_messaging`).collection('senders')
    await senders.updateOne(
      { email: { $regex: `^s${number - 1}@` } },
      { $set: { domain: 'unverified.example.org', email: 'u@unverified.example.org' } },
    )
    const admin = { name: 'Admin', email: 'admin@rollcall.test', password: PASSWORD, role: 'admin' }
    await bodyOf(api().post('/api/users', admin), 201)
    const other = await signIn(fromElsewhere(stack.api), admin.email, PASSWORD)
    const theirs = await newSender({}, other)
    const to = 'a@example.com'
    const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'v']))
    const refusals: [object, status: number, message: string | RegExp][] = [
      [{ to: undefined }, 400, 'missing field -> to'],
      [{ to: 'nobody' }, 400, /^invalid field -> to: /],
      [{ to: { contactId: 'x' } }, 400, /^invalid field -> to\.contactId: /],
      [{ to: { contactId: unknownId } }, 404, 'contact not found'],
      [{ to: { contactId: blocked.id } }, 409, /blocked/],
      [{ to: blocked.email }, 409, /blocked/],
      [{ to, subject: undefined }, 400, 'missing field -> subject'],
      [{ to, text: undefined }, 400, 'missing field -> html'],
      [{ to, template: unknownId }, 400, 'extra field -> template'],
      [{ to, text: undefined, template: unknownId }, 400, 'invalid field -> template: unknown template'],
      [{ to, text: '{{ a', data: {} }, 400, /^invalid field -> text: line 1, column 1: /],
      [{ to, data: { long: 'x'.repeat(65_537) } }, 400, /^invalid field -> data: at most/],
      [{ to, from: unknownId }, 400, 'invalid field -> from: no such sender'],
      [{ to, from: theirs }, 400, 'invalid field -> from: no such sender'],
      [{ to, from: inactive }, 403, /not active/],
      [{ to, from: unverified }, 400, /^invalid field -> from: the domain unverified\.example\.org is not verified/],
      [{ to, headers: { Bcc: 'b@example.com' } }, 400, /^invalid field -> headers\.Bcc: /],
      [{ to, headers: { 'X-A': 'a\r\nBcc: b@example.com' } }, 400, /^invalid field -> headers\.X-A: /],
      [{ to, headers: headers(11) }, 400, /^invalid field -> headers: at most 10/],
      [{ to, replyTo: 'nobody' }, 400, /^invalid field -> replyTo: /],
      [{ to, sendAt: later(-1000) }, 400, /^invalid field -> sendAt: /],
      [{ to, sendAt: later(31 * DAY_MS) }, 400, /^invalid field -> sendAt: at most 30 days/],
      [{ to, track: { opens: 1 } }, 400, /^invalid field -> track\.opens: /],
    ]
    for (const [body, status, message] of refusals) {
      const refused = await send<Refusal & string>(body)
      assert.equal(refused.status, status, `${JSON.stringify(body).slice(0, 200)}: ${refused.text}`)
      const text = status === 403 ? refused.text : refused.body.message
      if (typeof message === 'string') assert.equal(text, message)
      else assert.match(text, message)
    }
    assert.equal((await bodyOf(api().get<Page<object>>(MESSAGES))).totalDocs, totalDocs)
  })

  it('202: sends to an address and to a contact, by the senders that the caller may use, tokens included', async () => {
    const { id, email } = await newContact()
    const headers = { 'X-Order': '42' }
    const made = await bodyOf(send({ to: { contactId: id }, headers, replyTo: 'answers@example.com' }), 202)
    assert.deepEqual([made.to, made.contact, made.kind, made.status], [email, id, 'transactional', 'queued'])
    const sent = await reached(made.id, 'sent')
    assert.deepEqual(
      sent.events.map(({ type }) => type),
      ['queued', 'sent'],
    )
    const mail = (await relay.mailTo(email)).raw.toString()
    assert.match(mail, /^X-Order: 42\r$/m)
    assert.match(mail, /^Reply-To: answers@example\.com\r$/m)
    const shown = await eventually('the contact shows it', async () => {
      const { docs } = await bodyOf(api().get<Page<{ status: string }>>(`/api/audience/${id}/emails`))
      return docs[0]?.status === 'sent' && docs
    })
    assert.equal(shown.length, 1)
    const { api: token } = await makeToken(stack.owner)
    const own = await newSender()
    for (const body of [{ to: 'by-token@example.com', from: own }, { to: 'by-default@example.com' }]) {
      await bodyOf(send(body, token), 202)
      await relay.mailTo(body.to)
    }
    const { docs } = await bodyOf(api().get<Page<MessageJson>>(MESSAGES, { filter: { contact: id } }))
    assert.deepEqual(docs, [await get(made.id)])
    assert.equal((await api().get(`${MESSAGES}/${unknownId}`)).status, 404)
  })

  it('202: a repeated Idempotency-Key sends once', async () => {
    const key = randomUUID()
    const keyed = (text: string) =>
      api().request<MessageJson>('POST', SEND, {
        body: { ...content, text, to: 'once@example.com' },
        headers: { 'idempotency-key': key },
      })
    const first = await bodyOf(keyed('One'), 202)
    const again = await keyed('One')
    assert.deepEqual([again.status, again.body.id, again.headers.get('idempotency-replayed')], [202, first.id, 'true'])
    await reached(first.id, 'sent')
    assert.equal(relay.asked.filter(to => to === 'once@example.com').length, 1)
  })

  it('200, 409, 404: cancels a scheduled message only', async () => {
    const { id, status } = await bodyOf(send({ to: 'later@example.com', sendAt: later(HOUR_MS) }), 202)
    assert.equal(status, 'scheduled')
    const cancel = <T = MessageJson>(which: string) => api().post<T>(`${MESSAGES}/${which}/cancel`, {})
    const cancelled = await bodyOf(cancel(id))
    assert.deepEqual([cancelled.status, cancelled.events.at(-1)?.type], ['cancelled', 'cancelled'])
    const { id: now } = await bodyOf(send({ to: 'now@example.com' }), 202)
    await reached(now, 'sent')
    for (const each of [id, now]) {
      const refused = await bodyOf(cancel<Refusal>(each), 409)
      assert.deepEqual([refused.error, refused.message], [true, 'the message is not scheduled'])
    }
    assert.equal((await cancel(unknownId)).status, 404)
    assert.equal(relay.asked.includes('later@example.com'), false)
  })

  it('ends as suppressed, with the reason, where the address or the contact gets no mail at the hand-over', async () => {
    const [suppressed, blocked] = [await newContact(), await newContact()]
    const sendAt = later(HOUR_MS)
    const ids: string[] = []
    for (const { id } of [suppressed, blocked])
      ids.push((await bodyOf(send({ to: { contactId: id }, sendAt }), 202)).id)
    await bodyOf(api().post(SUPPRESSIONS, { email: suppressed.email, reason: 'asked' }), 201)
    await bodyOf(api().patch(`/api/audience/${blocked.id}/block`, { reason: 'asked' }))
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    const mails = client.db(`${stack.namespace}rollcall_messaging`).collection('mails')
    await mails.updateMany({ contact: { $in: [suppressed.id, blocked.id] } }, { $set: { dueAt: new Date() } })
    const [one, two] = [await reached(ids[0]!, 'suppressed'), await reached(ids[1]!, 'suppressed')]
    assert.deepEqual([one.error, two.error], ['the address is suppressed (manual): asked', 'the contact is blocked'])
    for (const { email } of [suppressed, blocked]) assert.equal(relay.asked.includes(email), false)
  })

  it('201, 400, 404, 409: suppresses an address once, whatever its case, and lifts it', async () => {
    const { id: contact, email } = await newContact()
    const made = await bodyOf(api().post<SuppressionJson>(SUPPRESSIONS, { email, reason: 'asked' }), 201)
    assert.deepEqual(
      [made.email, made.kind, made.reason, made.message, made.count],
      [email, 'manual', 'asked', null, 1],
    )
    const again = await bodyOf(api().post<Refusal>(SUPPRESSIONS, { email: email.toUpperCase() }), 409)
    assert.equal(again.message, 'duplicate -> email')
    assert.equal((await bodyOf(api().post<Refusal>(SUPPRESSIONS, {}), 400)).message, 'missing field -> email')
    assert.equal((await bodyOf(api().post<Refusal>(SUPPRESSIONS, { email: 'nobody' }), 400)).path, 'email')
    const { docs } = await bodyOf(api().get<Page<SuppressionJson>>(SUPPRESSIONS, { filter: { email } }))
    assert.deepEqual(docs, [made])
    assert.deepEqual(await bodyOf(api().get<SuppressionJson>(`${SUPPRESSIONS}/${made.id}`)), made)
    assert.deepEqual(await bodyOf(api().delete<SuppressionJson>(`${SUPPRESSIONS}/${made.id}`)), made)
    for (const gone of [api().get(`${SUPPRESSIONS}/${made.id}`), api().delete(`${SUPPRESSIONS}/${made.id}`)])
      assert.equal((await gone).status, 404)
    const { id } = await bodyOf(send({ to: email }), 202)
    await reached(id, 'sent')
    assert.ok(await contactOf(contact))
  })

  describe('reports of Mailgun', () => {
    let url: string
    const signed = (timestamp = Math.floor(Date.now() / 1000), token: string = randomUUID(), key = SIGNING_KEY) => ({
      timestamp: String(timestamp),
      token,
      signature: createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex'),
    })
    const report = (body: unknown, at = url) =>
      fetch(at, {
        method: 'POST',
        headers: { ...api(stack.api).headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const reportOf = (id: string, event: string, more: object = {}, signature = signed()) => ({
      signature,
      'event-data': { event, message: { headers: { 'message-id': `${id}@mail.example.org` } }, ...more },
    })
    const sentTo = async (to: string | { contactId: string }) => {
      const { id } = await bodyOf(send({ to }), 202)
      await reached(id, 'sent')
      return id
    }

    it('400, 503: are set up with a key that Mailgun knows; another one changes nothing', async () => {
      const put = <T = object>(body: object) => api().put<T>(PROVIDER, { kind: 'mailgun', region: 'us', ...body })
      const before = await bodyOf(api().get<object>(PROVIDER))
      assert.equal((await bodyOf(put<Refusal>({}), 400)).message, 'missing field -> apiKey')
      assert.equal((await put({ apiKey: 'wrong', webhookSigningKey: SIGNING_KEY })).status, 400)
      mailgun.fail({ status: 500, body: 'broken' })
      assert.equal((await put({ apiKey: mailgun.apiKey })).status, 503)
      mailgun.fail()
      assert.deepEqual(await bodyOf(api().get<object>(PROVIDER)), before)
      await bodyOf(put({ apiKey: mailgun.apiKey, webhookSigningKey: SIGNING_KEY }))
      const { text, body } = await api().get<{ webhookUrl: string }>(PROVIDER)
      assert.equal(text.includes(SIGNING_KEY) || text.includes(mailgun.apiKey), false)
      url = body.webhookUrl
      assert.match(new URL(url).pathname, /^\/api\/emails\/provider\/webhook\/[0-9a-f]{24}\/[\w-]+$/)
    })

    it('200: move a message on; a bounce suppresses, a complaint opts out as well', async () => {
      const delivered = await sentTo('delivered@example.com')
      for (const event of ['accepted', 'delivered', 'opened', 'clicked'])
        assert.equal((await report(reportOf(delivered, event, { url: 'https://example.com/' }))).status, 200)
      assert.equal((await get(delivered)).status, 'clicked')
      const [bounced, complained, left] = [await newContact(), await newContact(), await newContact()]
      const failed = { severity: 'permanent', 'delivery-status': { code: 550, message: '5.1.1 No such user' } }
      assert.equal((await report(reportOf(await sentTo({ contactId: bounced.id }), 'failed', failed))).status, 200)
      assert.equal((await report(reportOf(await sentTo({ contactId: complained.id }), 'complained'))).status, 200)
      assert.equal((await report(reportOf(await sentTo({ contactId: left.id }), 'unsubscribed'))).status, 200)
      const kinds = await bodyOf(
        api().get<Page<SuppressionJson>>(SUPPRESSIONS, {
          filter: { email: { $in: [bounced.email, complained.email, left.email] } },
          sort: { kind: -1 },
        }),
      )
      assert.deepEqual(
        kinds.docs.map(({ kind, count }) => [kind, count]),
        [
          ['hard_bounce', 1],
          ['complaint', 1],
        ],
      )
      await eventually('the contacts say so', async () => {
        const all = [await contactOf(bounced.id), await contactOf(complained.id), await contactOf(left.id)]
        return (
          all.map(({ emailStatus, unsubscribed }) => `${emailStatus} ${unsubscribed}`).join() ===
          'bounced false,complained true,ok true'
        )
      })
      const [bounce] = kinds.docs
      await bodyOf(api().delete(`${SUPPRESSIONS}/${bounce!.id}`))
      await eventually('lifting it is known', async () => (await contactOf(bounced.id)).emailStatus === 'unknown')
    })

    it('401: are refused where they are forged, stale or repeated, and change nothing', async () => {
      const id = await sentTo('not-bounced@example.com')
      const failed = (signature: ReturnType<typeof signed>) =>
        reportOf(id, 'failed', { severity: 'permanent' }, signature)
      const seconds = Math.floor(Date.now() / 1000)
      const used = signed()
      assert.equal((await report(reportOf(id, 'accepted', {}, used))).status, 200)
      for (const signature of [
        signed(seconds, randomUUID(), 'another key'),
        signed(seconds - 16 * 60),
        signed(seconds + 16 * 60),
        { ...signed(), token: randomUUID() },
        used,
      ]) {
        const refused = await report(failed(signature))
        assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [401, 'provider.report_refused'])
      }
      const other = url.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))
      assert.equal((await report(failed(signed()), other)).status, 401)
      assert.equal((await get(id)).status, 'sent')
      assert.equal((await report(reportOf(unknownId, 'failed', { severity: 'permanent' }))).status, 200)
    })
  })
})
