import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Link, linkTo } from '@rollcall/local'
import { AppError, json } from '@rollcall/rpc'
import { bootGateway, issueToken, type TestGateway } from './test-gateway.ts'

const contact = { email: 'one@example.com' }

describe('Idempotency-Key', () => {
  let gateway: TestGateway
  let redis: Link
  let token: string

  before(async () => {
    redis = await linkTo(process.env.REDIS_CACHE_URL ?? '')
    gateway = await bootGateway({ REDIS_CACHE_URL: redis.url, RPC_DEADLINE_MS: '1000' })
    token = issueToken(gateway.services)
  })
  after(async () => {
    await gateway.stop()
    await redis.stop()
  })
  beforeEach(() => {
    gateway.services.calls.length = 0
    gateway.services.behaviours.clear()
    let made = 0
    gateway.services.behaviours.set('createContact', () => json({ made: ++made }))
  })

  const post = async (key: string, body: object = contact, path = '/api/audience', credential = token) => {
    const headers = { Authorization: credential, 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const replayed = response.headers.get('idempotency-replayed')
    return { status: response.status, replayed, body: (await response.json()) as Record<string, unknown> }
  }

  it('answers a repetition as the first time, and does nothing again', async () => {
    const key = randomUUID()
    assert.deepEqual(await post(key), { status: 201, replayed: null, body: { made: 1 } })
    assert.deepEqual(await post(key), { status: 201, replayed: 'true', body: { made: 1 } })
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('refuses another request with the same key', async () => {
    const key = randomUUID()
    await post(key)
    const { status, body } = await post(key, { email: 'two@example.com' })
    assert.equal(status, 409)
    assert.deepEqual(body, { error: true, message: 'this Idempotency-Key was used for another request' })
    assert.equal(
      (await post(key, { name: 'Company', slug: 'company', type: 'string' }, '/api/audience/attributes')).status,
      409,
    )
  })

  it('is of one caller: the key of another is another key', async () => {
    const key = randomUUID()
    const other = issueToken(gateway.services, { tokenId: 'e'.repeat(24) })
    await post(key)
    assert.deepEqual(await post(key, contact, '/api/audience', other), {
      status: 201,
      replayed: null,
      body: { made: 2 },
    })
  })

  it('refuses a repetition while the first is running, of many at once all but one', async () => {
    const key = randomUUID()
    const refused: number[] = []
    const { promise: othersRefused, resolve } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('createContact', async () => {
      await othersRefused
      return json({ made: 1 })
    })
    const request = async () => {
      const { status } = await post(key)
      if (status !== 201) refused.push(status)
      if (refused.length === 9) resolve()
      return status
    }
    const answers = await Promise.all(Array.from({ length: 10 }, request))
    assert.equal(answers.filter(status => status === 201).length, 1)
    assert.deepEqual(new Set(refused), new Set([409]))
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('gives the key back where the request was refused', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => {
      throw new AppError('duplicate', { path: 'email' })
    })
    assert.equal((await post(key)).status, 409)
    gateway.services.behaviours.set('createContact', () => json({ made: 7 }))
    assert.deepEqual(await post(key), { status: 201, replayed: null, body: { made: 7 } })
  })

  it('does not do again what ended without an answer', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => new Promise(() => {}))
    assert.equal((await post(key)).status, 503)
    const { status, body } = await post(key)
    assert.equal(status, 409)
    assert.match(String(body.message), /still running, or ended without an answer/)
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('does not do again what a service was unavailable for: it may have lost its database at the commit', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => {
      throw new AppError('unavailable', {})
    })
    assert.equal((await post(key)).status, 503)
    gateway.services.behaviours.set('createContact', () => json({ made: 8 }))
    assert.equal((await post(key)).status, 409)
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('does not keep an answer that is long', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => json({ name: 'x'.repeat(16 * 1024) }))
    assert.equal((await post(key)).status, 201)
    assert.equal((await post(key)).status, 409)
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('does not keep an answer that holds a secret', async () => {
    const key = randomUUID()
    const token = { name: 'one' }
    assert.equal((await post(key, token, '/api/tokens')).status, 201)
    const { status, body } = await post(key, token, '/api/tokens')
    assert.equal(status, 409)
    assert.match(String(body.message), /holds a secret/)
    assert.equal(gateway.services.count('createToken'), 1)
  })

  it('refuses a key that is none', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) assert.equal((await post(key)).status, 400)
    assert.equal(gateway.services.count('createContact'), 0)
  })

  it('does nothing where the key cannot be claimed', async () => {
    redis.become('cut')
    const { status } = await post(randomUUID())
    redis.become('open')
    assert.equal(status, 503)
    assert.equal(gateway.services.count('createContact'), 0)
  })
})
