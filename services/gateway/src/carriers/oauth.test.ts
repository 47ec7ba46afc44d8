import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/contract'
import { bootGateway, type TestGateway } from '../../test/gateway.ts'

const FORM = 'application/x-www-form-urlencoded'

describe('a route that speaks OAuth', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await bootGateway({ TRUST_PROXY: '1' })
  })
  after(() => gateway.stop())
  beforeEach(() => {
    gateway.services.behaviours.clear()
    gateway.services.calls.length = 0
  })

  let address = 0
  const post = async (path: string, body: string, headers: Record<string, string>) => {
    const sent = { 'x-forwarded-for': `192.0.2.${address++}`, ...headers }
    const response = await fetch(`${gateway.url}/api/auth/${path}`, { method: 'POST', body, headers: sent })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const token = (body: string, headers: Record<string, string> = {}) =>
    post('token', body, { 'content-type': FORM, ...headers })
  /** Returns the request that the service got, without unset fields. */
  const received = () => {
    const { audience, resource, ...rest } = gateway.services.calls.at(-1)!.request as Record<string, unknown>
    const lists = { audience, resource }
    return { ...rest, ...Object.fromEntries(Object.entries(lists).filter(([, list]) => (list as []).length > 0)) }
  }
  const refused = (error: string, error_description: string, status = 400) => ({
    status,
    body: { error, error_description },
  })
  const outcome = async (answer: ReturnType<typeof token>) => {
    const { status, body } = await answer
    return { status, body }
  }

  it('accepts a form and JSON', async () => {
    const fields = { grantType: 'g', scope: 'a b', audience: ['x'] }
    await token('grant_type=g&scope=a+b&audience=x')
    assert.deepEqual(received(), fields)
    const audiences = ['x', ['x']]
    for (const audience of audiences) {
      const body = JSON.stringify({ grant_type: 'g', scope: 'a b', audience })
      await post('token', body, { 'content-type': 'application/json' })
      assert.deepEqual(received(), fields)
    }
  })

  it('treats a parameter without a value as not sent, and ignores unknown ones', async () => {
    await token('grant_type=g&scope=&unheard_of=1&__proto__=1')
    assert.deepEqual(received(), { grantType: 'g' })
  })

  it('accepts audience and resource more than once, and no other', async () => {
    await token('grant_type=g&audience=x&audience=y&resource=z')
    assert.deepEqual(received(), { grantType: 'g', audience: ['x', 'y'], resource: ['z'] })
    const twice = refused('invalid_request', 'repeated parameter -> scope')
    assert.deepEqual(await outcome(token('grant_type=g&scope=a&scope=b')), twice)
  })

  it('reads the client from Authorization: Basic, form-encoded as in RFC 6749', async () => {
    await token('grant_type=g', { authorization: `basic ${btoa('a%3Ab+c:s%25:x')}` })
    assert.deepEqual(received(), { grantType: 'g', clientId: 'a:b c', clientSecret: 's%:x' })
    const malformed = refused('invalid_client', 'malformed Authorization header', 401)
    assert.deepEqual(await outcome(token('grant_type=g', { authorization: `Basic ${btoa('a:%')}` })), malformed)
  })

  it('accepts client credentials in one place only', async () => {
    const authorization = `Basic ${btoa('a:b')}`
    const twofold = refused('invalid_request', 'more than one client authentication method is used')
    assert.deepEqual(await outcome(token('grant_type=g&client_secret=b', { authorization })), twofold)
    assert.deepEqual(await outcome(token('grant_type=g&client_id=x', { authorization })), twofold)
    await token('grant_type=g&client_id=a', { authorization })
    assert.deepEqual(received(), { grantType: 'g', clientId: 'a', clientSecret: 'b' })
    await token('grant_type=g&client_id=a', { authorization: 'Bearer of.a.session' })
    assert.deepEqual(received(), { grantType: 'g', clientId: 'a' })
  })

  it('answers what it cannot read with an OAuth error', async () => {
    assert.deepEqual(await outcome(token('')), refused('invalid_request', 'missing field -> grant_type'))
    assert.deepEqual(
      await outcome(token('%ff=%fe&grant_type=')),
      refused('invalid_request', 'missing field -> grant_type'),
    )
    const type = 'content type must be application/json'
    assert.deepEqual(await outcome(token('x', { 'content-type': 'text/plain' })), refused('invalid_request', type))
    const large = refused('invalid_request', 'body is larger than 1 MiB')
    assert.deepEqual(await outcome(token('x'.repeat(2 ** 20 + 1))), large)
    const name = refused('invalid_client_metadata', 'invalid field -> client_name: must be a string')
    const asJson = { 'content-type': 'application/json' }
    assert.deepEqual(await outcome(post('clients', '{"client_name":1}', asJson)), name)
    const uris = refused('invalid_redirect_uri', 'invalid field -> redirect_uris: must be an array')
    assert.deepEqual(await outcome(post('clients', '{"redirect_uris":"x"}', asJson)), uris)
  })

  it('passes on errors of the service, with WWW-Authenticate', async () => {
    gateway.services.behaviours.set('exchangeToken', () => {
      throw new AppError('exchange.grant_type_unsupported', { required: 'no "such" grant é' })
    })
    const required = { error: 'unsupported_grant_type', error_description: "grant_type must be no 'such' grant '" }
    assert.deepEqual(await outcome(token('grant_type=g')), { status: 400, body: required })
    gateway.services.behaviours.set('exchangeToken', () => {
      throw new AppError('client.invalid')
    })
    const { status, body, headers } = await token('grant_type=g')
    const unknown = 'Unknown client, or a wrong secret.'
    assert.deepEqual([status, body], [401, { error: 'invalid_client', error_description: unknown }])
    assert.equal(headers.get('x-error-code'), 'client.invalid')
    assert.equal(headers.get('www-authenticate'), 'Basic realm="rollcall"')
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  it('answers limits and outages like every route', async () => {
    gateway.services.behaviours.set('exchangeToken', () => {
      throw new Error('broken')
    })
    const broken = { status: 503, body: { error: true, message: 'service unavailable' } }
    assert.deepEqual(await outcome(token('grant_type=g')), broken)
    gateway.services.behaviours.clear()
    const from = { 'x-forwarded-for': '198.51.100.1' }
    for (let sent = 0; sent < 10; sent++) await token('grant_type=g', from)
    assert.deepEqual(await outcome(token('grant_type=g', from)), {
      status: 429,
      body: { success: false, message: 'too many requests, please try again later' },
    })
  })

  it('forbids caches to store its answer', async () => {
    gateway.services.behaviours.set('exchangeToken', () => json({ access_token: 'x' }))
    const { headers } = await token('grant_type=g')
    assert.deepEqual([headers.get('cache-control'), headers.get('pragma')], ['no-store', 'no-cache'])
  })
})
