import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/contract'
import { connectCacheRedis } from '@rollcall/credentials'
import { eventually } from '@rollcall/testing/eventually'
import { type Link, linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { bootGateway, issueToken, StubbedServices, type TestGateway } from '../test/gateway.ts'
import type { Authorized } from './exchange.ts'
import { createIdempotency } from './idempotency.ts'

const contact = { email: 'one@example.com' }
const MAX_KEYS = 50
const UPLOAD_PATH = '/api/audience/import/upload'

describe('Idempotency-Key', () => {
  let gateway: TestGateway
  let redis: Link
  let token: string

  before(async () => {
    redis = await linkTo(process.env.REDIS_QUEUE_URL ?? '')
    gateway = await bootGateway({
      REDIS_QUEUE_URL: redis.url,
      RPC_DEADLINE_MS: String(scaledTimeout(1_000)),
      IDEMPOTENCY_KEY_LIMIT: String(MAX_KEYS),
    })
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

  it('belongs to one caller: the same key of another is another key', async () => {
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

  it('releases the key of a refused request', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => {
      throw new AppError('record.duplicate', { path: 'email' })
    })
    assert.equal((await post(key)).status, 409)
    gateway.services.behaviours.set('createContact', () => json({ made: 7 }))
    assert.deepEqual(await post(key), { status: 201, replayed: null, body: { made: 7 } })
  })

  it('does not repeat a request that ended without an answer', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => new Promise(() => {}))
    assert.equal((await post(key)).status, 503)
    const { status, body } = await post(key)
    assert.equal(status, 409)
    assert.match(String(body.message), /still running, or ended without an answer/)
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('does not repeat a request that a service was unavailable for: it may have lost its database at the commit', async () => {
    const key = randomUUID()
    gateway.services.behaviours.set('createContact', () => {
      throw new AppError('service.unavailable', {})
    })
    assert.equal((await post(key)).status, 503)
    gateway.services.behaviours.set('createContact', () => json({ made: 8 }))
    assert.equal((await post(key)).status, 409)
    assert.equal(gateway.services.count('createContact'), 1)
  })

  it('keeps only the success of a long answer', async () => {
    for (const name of [randomBytes(4 * 1024).toString('base64'), 'x'.repeat(70 * 1024)]) {
      const key = randomUUID()
      gateway.services.calls.length = 0
      gateway.services.behaviours.set('createContact', () => json({ name }))
      assert.equal((await post(key)).status, 201)
      const { status, body } = await post(key)
      assert.equal(status, 409)
      assert.match(String(body.message), /succeeded; its answer is too long/)
      assert.equal(gateway.services.count('createContact'), 1)
    }
  })

  it('keeps a page of text that is small when compressed', async () => {
    const key = randomUUID()
    const answer = { rows: Array.from({ length: 200 }, (_, row) => ({ row, company: 'Example Company' })) }
    gateway.services.behaviours.set('createContact', () => json(answer))
    await post(key)
    assert.deepEqual(await post(key), { status: 201, replayed: 'true', body: answer })
  })

  it('are limited per credential; a released one does not count', async () => {
    const [greedy, other] = ['f', 'd'].map(id => issueToken(gateway.services, { tokenId: id.repeat(24) }))
    const from = (credential: string) => post(randomUUID(), contact, '/api/audience', credential)
    gateway.services.behaviours.set('createContact', () => {
      throw new AppError('record.duplicate', { path: 'email' })
    })
    assert.equal((await from(greedy!)).status, 409)
    gateway.services.behaviours.set('createContact', () => json({ made: 1 }))
    const answers = await Promise.all(Array.from({ length: MAX_KEYS + 3 }, () => from(greedy!)))
    const refused = answers.filter(({ status }) => status === 429)
    assert.equal(refused.length, 3)
    assert.deepEqual(refused[0]!.body, {
      success: false,
      message: `limit reached: ${MAX_KEYS} idempotency keys in use per credential`,
    })
    assert.equal((await from(other!)).status, 201)
  })

  it('are limited per organization too', async () => {
    const prefix = `test:${randomUUID()}:`
    const small = await bootGateway(
      { IDEMPOTENCY_PREFIX: prefix, IDEMPOTENCY_KEY_LIMIT: '2', IDEMPOTENCY_KEY_LIMIT_PER_ORGANIZATION: '3' },
      new StubbedServices(),
    )
    const keyed = async (tokenId: string) => {
      const Authorization = issueToken(small.services, { tokenId: tokenId.repeat(24) })
      const headers = { Authorization, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }
      const body = JSON.stringify(contact)
      const response = await fetch(`${small.url}/api/audience`, { method: 'POST', headers, body })
      return [response.status, ((await response.json()) as { message?: string }).message]
    }
    for (const tokenId of ['1', '2', '3']) assert.equal((await keyed(tokenId))[0], 201)
    assert.deepEqual(await keyed('4'), [429, 'limit reached: 3 idempotency keys in use per organization'])
    await small.stop()
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

  it('refuses an invalid key', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) assert.equal((await post(key)).status, 400)
    assert.equal(gateway.services.count('createContact'), 0)
  })

  it('does nothing if the key cannot be claimed', async () => {
    redis.become('cut')
    const { status } = await post(randomUUID())
    redis.become('open')
    assert.equal(status, 503)
    assert.equal(gateway.services.count('createContact'), 0)
    await eventually('the connection is back', async () => (await post(randomUUID())).status !== 503)
  })

  describe('while Redis stalls', () => {
    const prefix = `test:${randomUUID()}:`
    const queue = connectCacheRedis({ url: process.env.REDIS_QUEUE_URL ?? '' })
    after(() => queue.disconnect())

    const storedKey = async () => (await queue.keys(`${prefix}*`)).find(name => !name.endsWith(':live'))
    const isShort = async (name: string) => (await queue.pttl(name)) <= 2_000

    it('is free again soon if Redis claims it after the client got 503', async () => {
      const link = await linkTo(process.env.REDIS_QUEUE_URL ?? '')
      const settings = { REDIS_QUEUE_URL: link.url, IDEMPOTENCY_PREFIX: prefix }
      const stalling = await bootGateway(settings, new StubbedServices())
      const headers = {
        Authorization: issueToken(stalling.services),
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
      }
      const create = async () => {
        const response = await fetch(`${stalling.url}/api/audience`, {
          method: 'POST',
          headers,
          body: JSON.stringify(contact),
        })
        return response.status
      }
      try {
        link.become('slow')
        assert.equal(await create(), 503)
        const key = await eventually('Redis runs the claim', storedKey)
        assert.ok(await isShort(key))
        assert.equal(stalling.services.count('createContact'), 0)
        link.become('open')
        await eventually('the claim is over', async () => (await create()) === 201)
      } finally {
        await stalling.stop()
        await link.stop()
      }
    })

    it('is not kept by an extension that runs after the client got 503', async () => {
      let runLate = (): Promise<unknown> => assert.fail('the claim was not extended')
      const stalling = Object.create(queue, {
        eval: {
          value: (script: string, ...rest: [number, ...string[]]) => {
            if (script.includes('SET')) return queue.eval(script, ...rest)
            runLate = () => queue.eval(script, ...rest)
            return Promise.reject(new Error('Command timed out'))
          },
        },
      })
      const own = `${prefix}late:`
      const idempotency = createIdempotency({
        redis: stalling,
        prefix: own,
        maxKeys: { credential: 1, organization: 1 },
      })
      const exchange = {
        request: { headers: { 'idempotency-key': 'one' } },
        caller: { organizationId: 'a', tokenId: 'b' },
      } as unknown as Authorized
      const attempt = {
        perform: () => assert.fail('nothing runs without a claim'),
        fingerprint: () => '',
        mayHaveTakenEffect: () => true,
      }
      await assert.rejects(idempotency.once(exchange, attempt), { code: 'service.unavailable' })
      const [key = ''] = (await queue.keys(`${own}*`)).filter(name => !name.endsWith(':live'))
      await eventually('the command has timed out', async () => (await queue.pttl(key)) < 1_000)
      assert.equal(await runLate(), 0)
      assert.ok(await isShort(key))
    })

    it('stays claimed while its request runs', async () => {
      const { promise: isRunning, resolve } = Promise.withResolvers<void>()
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const services = new StubbedServices()
      services.behaviours.set('createContact', async () => {
        resolve()
        await released
        return json({ made: 1 })
      })
      const running = `${prefix}running:`
      const other = await bootGateway({ IDEMPOTENCY_PREFIX: running }, services)
      const headers = {
        Authorization: issueToken(services),
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
      }
      const answer = fetch(`${other.url}/api/audience`, { method: 'POST', headers, body: JSON.stringify(contact) })
      await isRunning
      const [key = ''] = (await queue.keys(`${running}*`)).filter(name => !name.endsWith(':live'))
      assert.ok((await queue.ttl(key)) > 23 * 3600)
      release()
      assert.equal((await answer).status, 201)
      await other.stop()
    })
  })

  describe('on an upload', () => {
    let made = 0
    beforeEach(() => {
      gateway.services.behaviours.set('uploadImport', async (chunks: AsyncIterable<unknown>) => {
        for await (const _ of chunks);
        return json({ importId: String(++made) })
      })
    })

    const upload = async (key: string, content: string, fileName = 'a.csv') => {
      const body = new FormData()
      body.append('file', new Blob([content]), fileName)
      const headers = { Authorization: token, 'Idempotency-Key': key }
      const response = await fetch(gateway.url + UPLOAD_PATH, { method: 'POST', headers, body })
      const replayed = response.headers.get('idempotency-replayed')
      return { status: response.status, replayed, body: (await response.json()) as Record<string, unknown> }
    }

    it('answers the same file as the first time, and stores it once', async () => {
      const key = randomUUID()
      const content = 'email,name\n'.repeat(50_000)
      const first = await upload(key, content)
      assert.equal(first.status, 200)
      assert.deepEqual(await upload(key, content), { ...first, replayed: 'true' })
      assert.equal(gateway.services.count('uploadImport'), 1)
    })

    it('refuses another file, or the same one by another name', async () => {
      const key = randomUUID()
      await upload(key, 'email\n1')
      for (const [content, name] of [['email\n2'], ['email\n1', 'b.csv']] as const) {
        const { status, body } = await upload(key, content, name)
        assert.equal(status, 409)
        assert.match(String(body.message), /used for another request/)
      }
      assert.equal(gateway.services.count('uploadImport'), 1)
    })

    it('releases the key if no file came', async () => {
      const key = randomUUID()
      const headers = { Authorization: token, 'Idempotency-Key': key }
      const response = await fetch(gateway.url + UPLOAD_PATH, { method: 'POST', headers, body: new FormData() })
      assert.equal(response.status, 400)
      assert.equal((await upload(key, 'email\n1')).status, 200)
    })

    it('releases the key if the client left before the file was complete', async () => {
      const key = randomUUID()
      const gone = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      gateway.services.behaviours.set('uploadImport', async (chunks: AsyncIterable<unknown>) => {
        begun.resolve()
        try {
          for await (const _ of chunks);
        } finally {
          gone.resolve()
        }
        return json({ importId: 'never' })
      })
      const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n'
      const head = [
        `POST ${UPLOAD_PATH} HTTP/1.1`,
        'Host: test',
        `Authorization: ${token}`,
        `Idempotency-Key: ${key}`,
        'Content-Type: multipart/form-data; boundary=x',
        'Content-Length: 1000',
      ]
      const socket = connect({ port: gateway.port, host: '127.0.0.1' })
      await once(socket, 'connect')
      socket.write(`${head.join('\r\n')}\r\n\r\n${part}`)
      await begun.promise
      socket.destroy()
      await gone.promise
      gateway.services.behaviours.set('uploadImport', () => json({ importId: 'second' }))
      const answer = await eventually('the claim of the key is over', async () => {
        const next = await upload(key, 'email\n1')
        return next.status !== 409 && next
      })
      assert.deepEqual(answer.body, { importId: 'second' })
    })
  })
})
