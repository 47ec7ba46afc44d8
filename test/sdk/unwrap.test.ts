import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { unwrap, WebhookVerificationError } from '@rollcall/sdk/webhooks'
import { Webhook as Signer } from 'standardwebhooks'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const event = {
  id: '64b0c0ffee0123456789abcd',
  type: 'contact.deleted',
  timestamp: '2026-01-31T12:00:00.000Z',
  organization: '64b0c0ffee0123456789abce',
  data: { contactId: '64b0c0ffee0123456789abcf', email: 'zoë@example.com', actor: null },
}
const body = JSON.stringify(event)

/** Returns the headers that the reference library signs a body with. */
function signed(by: string | string[] = secret, { at = new Date(), text = body } = {}) {
  return {
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': [by]
      .flat()
      .map(each => new Signer(each).sign(event.id, at, text))
      .join(' '),
  }
}

const refused = (given: ReturnType<typeof unwrap>, message: RegExp) =>
  assert.rejects(given, error => error instanceof WebhookVerificationError && message.test(error.message))

describe('unwrap', () => {
  it('accepts what the reference library signed, as text and as bytes, with each kind of headers', async () => {
    const headers = signed()
    const unusual = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    const ofLibrary = { get: (name: string) => new Headers(headers).get(name) }
    for (const each of [headers, new Headers(headers), ofLibrary, unusual])
      for (const text of [body, new TextEncoder().encode(body)])
        assert.deepEqual(await unwrap(text, each, secret), event)
  })

  it('types the data by the type of the event', async () => {
    const received = await unwrap(body, signed(), secret)
    assert.ok(received.type === 'contact.deleted')
    // @ts-expect-error: data over 64 KiB is left out
    assert.equal(received.data.email, 'zoë@example.com')
    assert.ok('email' in received.data && received.data.email === 'zoë@example.com')
  })

  it('accepts either secret while it is rotated, on both sides', async () => {
    const next = newSecret()
    assert.ok(await unwrap(body, signed([next, secret]), secret))
    assert.ok(await unwrap(body, signed([next, secret]), next))
    assert.ok(await unwrap(body, signed(secret), [next, secret]))
    await refused(unwrap(body, signed(secret), next), /no signature matches/)
  })

  it('refuses a changed byte, id or time, other versions, and malformed signatures', async () => {
    const headers = signed()
    const { 'webhook-signature': signature, ...rest } = headers
    const other = (changes: object) => unwrap(body, { ...headers, ...changes }, secret)
    await refused(unwrap(body.replace('zoë', 'zoe'), headers, secret), /no signature matches/)
    await refused(other({ 'webhook-id': 'another' }), /no signature matches/)
    await refused(other({ 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) }), /no signature/)
    await refused(other({ 'webhook-signature': signature.replace('v1,', 'v2,') }), /no signature matches/)
    for (const malformed of ['v1,', 'v1,%%%', 'nonsense', 'v1,c2hvcnQ='])
      await refused(other({ 'webhook-signature': malformed }), /no signature matches/)
    await refused(unwrap(body, rest, secret), /webhook-signature is missing/)
    await refused(other({ 'webhook-timestamp': 'now' }), /not a time/)
  })

  it('refuses what is older or newer than five minutes, unless told otherwise', async () => {
    for (const seconds of [-301, 302]) {
      const at = new Date(Date.now() + seconds * 1000)
      await refused(unwrap(body, signed(secret, { at }), secret), /too old/)
      assert.ok(await unwrap(body, signed(secret, { at }), secret, { toleranceSeconds: 600 }))
      assert.ok(await unwrap(body, signed(secret, { at }), secret, { nowMs: at.getTime() }))
    }
  })

  it('refuses a signed body that is no event, and a secret that is none', async () => {
    for (const text of ['{}', 'null', 'text', '{"type":1,"data":{}}'])
      await refused(unwrap(text, signed(secret, { text }), secret), /not an event/)
    for (const wrong of ['', 'whsec_', 'whsec_%%'])
      await assert.rejects(unwrap(body, signed(), wrong), { name: 'TypeError', message: /the secret must be/ })
  })
})
