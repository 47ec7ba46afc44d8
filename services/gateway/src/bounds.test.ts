import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AppError, json, limits } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { bootGateway, issueSession, issueToken, openRaw, type RawClient, type TestGateway } from '../test/gateway.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const id = 'c0ffee'.repeat(4)
const MEBIBYTE = 2 ** 20
const CONTACT = `/api/audience/${id}`
const TYPE_JSON = 'Content-Type: application/json'
const LARGE = 16 * MEBIBYTE // More than the system buffers on loopback for a client that does not read.

describe('finding 2: held bodies', () => {
  const timeoutMs = scaledTimeout(400)
  /** For what no client is cut off for. */
  const patient = { CLIENT_TIMEOUT_MS: '600000' }

  it('cuts off a body that is not whole in time, with 400', async t => {
    const gateway = await boot(t, { CLIENT_TIMEOUT_MS: String(timeoutMs) })
    const client = await openRaw(gateway.port)
    client.socket.write(`${head(gateway, 'POST', '/api/audience', `${TYPE_JSON}\r\nContent-Length: 100`)}{"email":`)
    const dripping = setInterval(() => client.socket.write(' '), 100)
    const ms = await client.closed
    clearInterval(dripping)
    assert.match(client.received(), /^HTTP\/1\.1 400 .*connection: close/is)
    assert.match(client.received(), /{"error":true,"message":"request took too long to arrive"}$/)
    assert.ok(ms >= timeoutMs && ms < scaledTimeout(timeoutMs + 2_000), `${ms} ms`)
  })

  it('cuts off a head that is not whole in time, with 400', async t => {
    const gateway = await boot(t, { CLIENT_TIMEOUT_MS: String(timeoutMs) })
    const slow = await openRaw(gateway.port)
    const silent = await openRaw(gateway.port)
    slow.socket.write('GET /api/audience HTTP/1.1\r\nHost: a\r\nX-Slow: ')
    const dripping = setInterval(() => slow.socket.write('x'), 100)
    const ms = await slow.closed
    clearInterval(dripping)
    assert.match(slow.received(), /^HTTP\/1\.1 400 .*request took too long to arrive"}$/s)
    assert.ok(ms < scaledTimeout(timeoutMs + 2_000), `${ms} ms`)
    await silent.closed
  })

  it('cuts off an upload below 16 KiB/s, with 400, and no faster one, however long it takes', async t => {
    const gateway = await boot(t, { CLIENT_TIMEOUT_MS: String(timeoutMs), STREAM_DEADLINE_MS: '500' })
    gateway.services.behaviours.set('uploadImport', count)
    const upload = async (bytesPerStep: number, steps: number) => {
      const client = await openRaw(gateway.port)
      client.socket.write(head(gateway, 'POST', '/api/audience/import/upload', FORM_HEAD) + formStart)
      for (let step = 0; step < steps && !client.socket.destroyed; step++) {
        client.socket.write(chunk('a'.repeat(bytesPerStep)))
        await pause(50)
      }
      client.socket.write(FORM_END)
      return client
    }
    const slow = await upload(200, Number.POSITIVE_INFINITY)
    await slow.closed
    assert.match(slow.received(), /^HTTP\/1\.1 400 .*{"error":true,"message":"upload took too long to arrive"}$/s)
    const faster = await upload(40_000, 30)
    assert.match(await faster.reads(/"bytes":\d+}$/), /"bytes":1200000}$/)
    faster.socket.destroy()
  })

  it('does not cut off a client because the service reads its upload slowly', async t => {
    const gateway = await boot(t, { CLIENT_TIMEOUT_MS: String(timeoutMs) })
    gateway.services.behaviours.set('uploadImport', async (chunks: never, call: Call) => {
      await pause(3 * timeoutMs)
      return count(chunks, call)
    })
    const client = await openRaw(gateway.port)
    client.socket.write(head(gateway, 'POST', '/api/audience/import/upload', FORM_HEAD) + formStart)
    client.socket.write(chunk('a'.repeat(LARGE)) + FORM_END)
    assert.match(await client.reads(/"bytes":\d+}$/), new RegExp(`"bytes":${LARGE}}$`))
    client.socket.destroy()
  })

  it('limits the bytes per address, and refuses more with 429 before it buffers them', async t => {
    const gateway = await boot(t, { ...patient, BODY_MEMORY_BYTES_PER_ADDRESS: String(3 * MEBIBYTE) })
    const held = await Promise.all([1, 2, 3, 4].map(() => hold(gateway, '127.0.0.2')))
    const answer = await Promise.any(held.map(({ reads }) => reads(/}$/)))
    assert.match(answer, /^HTTP\/1\.1 429 .*retry-after: \d+/is)
    const message = `limit reached: ${3 * MEBIBYTE} bytes of request bodies at once per client address`
    assert.ok(answer.endsWith(JSON.stringify({ success: false, message })), answer)
    assert.equal((await post(gateway)).status, 201, 'another address is served')
    assert.equal(held.filter(({ received }) => received() !== '').length, 1)
    for (const { socket } of held) socket.destroy()
    await eventually('the memory is free again once its client has left', async () => {
      const again = await hold(gateway, '127.0.0.2')
      await pause(50)
      again.socket.destroy()
      return again.received() === ''
    })
  })

  it('evicts the slowest, with 503, when others need memory', async t => {
    const gateway = await boot(t, { ...patient, BODY_MEMORY_BYTES: String(4.5 * MEBIBYTE) })
    const held: RawClient[] = []
    for (let index = 2; index < 6; index++) held.push(await hold(gateway, `127.0.0.${index}`))
    const dripping = setInterval(() => held.slice(1).map(({ socket }) => socket.destroyed || socket.write(' ')), 300)
    t.after(() => clearInterval(dripping))
    await pause(1_500)
    for (let count = 0; count < 3; count++) assert.equal((await post(gateway, 600_000)).status, 201)
    assert.match(await held[0]!.reads(/}$/), /^HTTP\/1\.1 503 .*retry-after: 2\r.*service unavailable/is)
    for (const { received } of held.slice(1)) assert.equal(received(), '')
    for (const { socket } of held) socket.destroy()
  })

  it('keeps the memory of a body until it is answered', async t => {
    const gateway = await boot(t, { ...patient, BODY_MEMORY_BYTES_PER_ADDRESS: String(MEBIBYTE) })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('createContact', async () => {
      await released
      return json({})
    })
    const first = post(gateway, 600_000)
    await eventually('the first request is at the service', () => gateway.services.count('createContact'))
    assert.equal((await post(gateway, 600_000)).status, 429)
    release()
    assert.equal((await first).status, 201)
    assert.equal((await post(gateway, 600_000)).status, 201)
  })
})

describe('finding 2: stalled readers', () => {
  const answers: [what: string, path: string, method: string, behaviour: () => unknown][] = [
    ['a whole answer', CONTACT, 'getContact', () => json(Buffer.alloc(LARGE, ' '))],
    ['a page', '/api/audience', 'listContacts', () => json(Buffer.alloc(LARGE, ' '))],
    [
      'a stream',
      '/api/audience/export',
      'exportContacts',
      async function* () {
        for (let size = 0; size < LARGE; size += MEBIBYTE)
          yield { contentType: 'text/csv', data: Buffer.alloc(MEBIBYTE) }
      },
    ],
  ]
  for (const [what, path, method, behaviour] of answers) {
    it(`cuts off a client that reads nothing of ${what}, but not one that reads slowly`, async t => {
      const timeoutMs = scaledTimeout(800)
      const gateway = await boot(t, { CLIENT_TIMEOUT_MS: String(timeoutMs) })
      gateway.services.behaviours.set(method, behaviour)
      const stalled = await openRaw(gateway.port, { isReading: false })
      const slow = await openRaw(gateway.port, { isReading: false })
      for (const { socket } of [stalled, slow]) socket.write(head(gateway, 'GET', path))
      let taken = 0
      slow.socket.on('data', (chunk: Buffer) => {
        taken += chunk.length
        if (taken % MEBIBYTE < chunk.length) slow.socket.pause()
      })
      const taking = setInterval(() => slow.socket.resume(), timeoutMs / 10)
      t.after(() => clearInterval(taking))
      await gone(gateway, 1) // the one that stalls
      await eventually('the slow client has read all', () => {
        assert.equal(slow.socket.destroyed, false, `cut off after ${taken} bytes`)
        return taken >= LARGE
      })
      clearInterval(taking)
      slow.socket.destroy()
      await gone(gateway, 2)
      stalled.socket.destroy()
    })
  }

  it('limits the bytes of answers; the client that has stalled longest is cut off for others', async t => {
    const gateway = await boot(t, { ANSWER_MEMORY_BYTES: String(LARGE + 2 * MEBIBYTE) })
    gateway.services.behaviours.set('getContact', () => json(Buffer.alloc(LARGE, ' ')))
    const stalled = await openRaw(gateway.port, { isReading: false })
    stalled.socket.write(head(gateway, 'GET', CONTACT))
    await pause(1_500)
    const response = await fetch(gateway.url + CONTACT, { headers: { Authorization: issueToken(gateway.services) } })
    assert.equal((await response.arrayBuffer()).byteLength, LARGE)
    await gone(gateway, 2)
    stalled.socket.destroy()
  })

  it('limits what is read ahead of a client', async t => {
    const gateway = await boot(t)
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const pageBytes = 2 * LARGE
    const page = json(Buffer.alloc(pageBytes, ' '))
    gateway.services.behaviours.set('listContacts', () => page)
    const stalled = await Promise.all(
      Array.from({ length: 10 }, () => openRaw(gateway.port, { from: '127.0.0.3', isReading: false })),
    )
    for (const { socket } of stalled) socket.write(head(gateway, 'GET', '/api/audience'))
    await eventually('ten requests are at the service', () => gateway.services.count('listContacts') >= 10)
    await pause(500)
    collectGarbage()
    collectGarbage() // frees what the first one found
    const grown = process.memoryUsage().arrayBuffers - before
    assert.ok(
      grown < 3 * pageBytes,
      `${Math.round(grown / MEBIBYTE)} MiB for ten readers of one page that take nothing`,
    )
    for (const { socket } of stalled) socket.destroy()
  })
})

describe('refusals while the memory for answers is in use', () => {
  const half = { contentType: 'text/csv', data: Buffer.from('row\r\n') }

  it('are answered, however long they are', async t => {
    const gateway = await boot(t, { ANSWER_MEMORY_BYTES: String(MEBIBYTE) })
    const reason = '\0'.repeat(1024) // its JSON is six times as long
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    gateway.services.behaviours
      .set('exportContacts', async function* () {
        yield half
        yield half
        await released
      })
      .set('getContact', () => {
        throw new AppError('request.invalid_field', { path: reason, reason })
      })
    const headers = { Authorization: issueToken(gateway.services), 'Content-Type': 'application/json' }
    const stream = await fetch(`${gateway.url}/api/audience/export`, { headers })
    const body = JSON.stringify({ email: 'a@example.com', ['x'.repeat(20_000)]: 1 })
    const extra = await fetch(`${gateway.url}/api/audience`, { method: 'POST', headers, body })
    assert.deepEqual([extra.status, extra.headers.get('x-error-code')], [400, 'request.extra_field'])
    const invalid = await fetch(gateway.url + CONTACT, { headers })
    assert.equal(invalid.status, 400)
    assert.ok((await invalid.text()).length > 16 * 1024)
    release()
    await stream.text()
  })
})

describe('finding 2: connections', () => {
  it('are limited per address', async t => {
    const gateway = await boot(t, { MAX_CONNECTIONS_PER_ADDRESS: '3' })
    const first = await Promise.all([1, 2, 3].map(() => openRaw(gateway.port, { from: '127.0.0.2' })))
    await (await openRaw(gateway.port, { from: '127.0.0.2' })).closed
    assert.equal((await post(gateway)).status, 201, 'another address is served')
    first[0]!.socket.destroy()
    await pause(100)
    const next = await openRaw(gateway.port, { from: '127.0.0.2' })
    next.socket.write(head(gateway, 'GET', CONTACT))
    await next.reads(/^HTTP\/1\.1 200 /)
    for (const { socket } of [...first, next]) socket.destroy()
  })

  it('of a trusted proxy are not counted by address', async t => {
    const gateway = await boot(t, { MAX_CONNECTIONS_PER_ADDRESS: '3', TRUST_PROXY: '127.0.0.2/32' })
    const clients = await Promise.all(Array.from({ length: 10 }, () => openRaw(gateway.port, { from: '127.0.0.2' })))
    for (const { socket } of clients) socket.write(head(gateway, 'GET', CONTACT))
    await Promise.all(clients.map(({ reads }) => reads(/^HTTP\/1\.1 200 /)))
    for (const { socket } of clients) socket.destroy()
  })

  it('P20: that are idle are closed when there are too many', async t => {
    const gateway = await boot(t, { MAX_CONNECTIONS: '20' })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('getContact', async () => {
      await released
      return json({})
    })
    const busy = await openRaw(gateway.port)
    busy.socket.write(head(gateway, 'GET', CONTACT))
    const idle = await Promise.all(Array.from({ length: 100 }, () => openRaw(gateway.port, { from: '127.0.0.2' })))
    assert.equal((await post(gateway)).status, 201)
    release()
    await busy.reads(/^HTTP\/1\.1 200 /)
    assert.ok(idle.filter(({ socket }) => !socket.destroyed).length <= 20)
    for (const { socket } of [busy, ...idle]) socket.destroy()
  })

  it('P20: answer pipelined requests one by one, in order', async t => {
    const gateway = await boot(t)
    let underWay = 0
    let most = 0
    gateway.services.behaviours.set('getContact', async ({ id }: { id: string }) => {
      most = Math.max(most, ++underWay)
      await pause(1)
      underWay--
      return json({ id })
    })
    const ids = Array.from({ length: 50 }, (_, index) => index.toString(16).padStart(24, '0'))
    const client = await openRaw(gateway.port)
    client.socket.write(ids.map(id => head(gateway, 'GET', `/api/audience/${id}`)).join(''))
    const text = await client.reads(new RegExp(ids.at(-1)!))
    assert.deepEqual(
      [...text.matchAll(/{"id":"(\w+)"}/g)].map(match => match[1]),
      ids,
    )
    assert.equal(most, 1)
    client.socket.destroy()
  })

  it('P20: are closed where too many pipelined requests wait', async t => {
    const gateway = await boot(t)
    gateway.services.behaviours.set('getContact', () => new Promise(() => {}))
    const client = await openRaw(gateway.port)
    client.socket.write(head(gateway, 'GET', CONTACT).repeat(1_000))
    await client.closed
    assert.ok(gateway.services.count('getContact') <= 1)
  })

  it('P20: carry the answer to a request after one that was refused before its body came', async t => {
    const gateway = await boot(t)
    const client = await openRaw(gateway.port)
    const early =
      'POST /api/audience HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n'
    const smuggled = `${head(gateway, 'DELETE', CONTACT)}`
    client.socket.write(early + smuggled.padEnd(200_000, ' ') + head(gateway, 'GET', CONTACT))
    const text = await client.reads(/HTTP\/1\.1 200 /)
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(match => match[1]),
      ['401', '200'],
    )
    assert.equal(gateway.services.count('deleteContact'), 0)
    client.socket.destroy()
  })
})

describe('P20: bodies in tiny parts', () => {
  const chunked = `Transfer-Encoding: chunked\r\n${TYPE_JSON}`

  it('are read like any other', async t => {
    const gateway = await boot(t)
    const client = await openRaw(gateway.port)
    const body = JSON.stringify({ email: 'a@example.com', name: 'x'.repeat(50_000) })
    client.socket.write(head(gateway, 'POST', '/api/audience', chunked))
    client.socket.write(`${[...body].map(byte => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`)
    await client.reads(/^HTTP\/1\.1 400 .*"invalid field -> name[^"]*","path":"name"}/s)
    client.socket.destroy()
  })

  it('are refused where they are more than any client needs', async t => {
    const gateway = await boot(t)
    const client = await openRaw(gateway.port)
    client.socket.write(head(gateway, 'POST', '/api/audience', chunked) + chunk(' ').repeat(2 ** 16 + 1))
    await client.closed
    assert.match(client.received(), /^HTTP\/1\.1 400 .*"message":"body has too many chunks"}$/s)
  })

  it('are refused where they are parts of a form with other names', async t => {
    const gateway = await boot(t)
    gateway.services.behaviours.set('uploadImport', count)
    const part = '--x\r\nContent-Disposition: form-data; name="other"\r\n\r\n\r\n'
    const client = await openRaw(gateway.port)
    client.socket.write(head(gateway, 'POST', '/api/audience/import/upload', FORM_HEAD))
    const sending = setInterval(() => client.socket.write(chunk(part.repeat(100))), 1) // without end
    await client.reads(/^HTTP\/1\.1 400 .*{"error":true,"message":"extra field -> other","path":"other"}$/s)
    clearInterval(sending)
    client.socket.destroy()
  })
})

describe('finding 12: streams of an organization', () => {
  const perOrganization = 2
  const refusal = { success: false, message: 'limit reached: 2 streams at once per organization' }

  it('are limited over all replicas', async t => {
    const settings = { STREAMS_PER_ORGANIZATION: String(perOrganization), LIMIT_PREFIX: `test:${Math.random()}:` }
    const gateway = await boot(t, settings)
    const replica = await bootGateway(settings, gateway.services)
    t.after(() => replica.lifecycle.stop('test is over'))
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const stream = async function* () {
      yield { contentType: 'application/json', data: Buffer.from('[') }
      yield { contentType: 'application/json', data: Buffer.from('1') }
      await released
      yield { contentType: 'application/json', data: Buffer.from(']') }
    }
    gateway.services.behaviours.set('listContacts', stream).set('exportContacts', stream)
    const get = ({ url }: TestGateway, path: string, credential = issueToken(gateway.services)) =>
      fetch(url + path, { headers: { Authorization: credential } })
    const organizationId = 'facade'.repeat(4)
    const stranger = issueSession(gateway.services, { org: organizationId }, { organizationId })
    const open = [await get(gateway, '/api/audience/export'), await get(replica, '/api/audience?pagination=false')]
    for (const from of [gateway, replica]) {
      const refused = await get(from, '/api/audience/export')
      assert.deepEqual([refused.status, await refused.json()], [429, refusal])
      assert.equal(refused.headers.get('retry-after'), '5')
    }
    const page = await get(gateway, '/api/audience')
    assert.equal(page.status, 200, 'a page is no stream')
    const other = await get(gateway, '/api/audience/export', stranger)
    assert.equal(other.status, 200, 'another organization has its own')
    release()
    for (const response of [...open, page, other]) await response.text()
    const isFree = async () => (await get(gateway, '/api/audience/export')).status === 200
    await eventually('a stream is free again', isFree, { everyMs: 5 })
  })

  it('are free again when the client leaves', async t => {
    const gateway = await boot(t, { STREAMS_PER_ORGANIZATION: '1' })
    gateway.services.behaviours.set('exportContacts', async function* (_request: never, { signal }: Call) {
      for (; !signal.aborted; await pause(5)) yield { contentType: 'text/csv', data: Buffer.from('row\r\n') }
    })
    for (let time = 0; time < 5; time++) {
      const leave = new AbortController()
      const get = () =>
        fetch(`${gateway.url}/api/audience/export`, {
          signal: leave.signal,
          headers: { Authorization: issueToken(gateway.services) },
        })
      await eventually('a stream is free', async () => (await get()).status === 200, { everyMs: 5 })
      leave.abort()
    }
  })
})

describe('finding 27: the reference', () => {
  it('is rate-limited', async t => {
    const gateway = await boot(t)
    const statuses = new Set<number>()
    const paths = ['/docs', '/docs/contacts', '/openapi.json']
    for (let time = 0; time < limits.reference.requests; time++) {
      const response = await fetch(gateway.url + paths[time % 3]!, { method: 'HEAD' })
      statuses.add(response.status)
      assert.equal(response.headers.get('ratelimit-policy'), `${limits.reference.requests};w=60`)
    }
    assert.deepEqual([...statuses], [200])
    for (const path of paths) {
      const refused = await fetch(gateway.url + path)
      assert.equal(refused.status, 429)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
    }
    assert.equal((await post(gateway)).status, 201, 'it does not count against the API')
  })
})

async function boot(t: TestContext, settings: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await bootGateway({ RPC_DEADLINE_MS: '10000', ...settings })
  gateway.services.behaviours.set('createContact', () => json({}))
  t.after(() => gateway.stop())
  return gateway
}

const FORM_HEAD = 'Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=x'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const FORM_END = `${chunk('\r\n--x--\r\n')}${chunk('')}`
const formStart = chunk('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')

/** Returns the head of a request with a new credential. */
function head({ services }: TestGateway, method: string, path: string, more?: string): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    `Authorization: ${issueToken(services)}`,
    ...(more ? [more] : []),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Sends most of a body of 1 MiB. */
async function hold(gateway: TestGateway, from: string) {
  const client = await openRaw(gateway.port, { from })
  const headers = `${TYPE_JSON}\r\nContent-Length: ${MEBIBYTE}`
  client.socket.write(head(gateway, 'POST', '/api/audience', headers) + ' '.repeat(MEBIBYTE - 64))
  await pause(100)
  return client
}

/** Creates a contact with a body of at least the given bytes. */
function post({ url, services }: TestGateway, bytes = 0) {
  return fetch(`${url}/api/audience`, {
    method: 'POST',
    headers: { Authorization: issueToken(services), 'Content-Type': 'application/json' },
    body: '{"email":"a@example.com"}'.padEnd(bytes),
  })
}

/** Waits until the gateway has ended the given number of requests. */
async function gone(gateway: TestGateway, requests: number): Promise<void> {
  const ended = () => gateway.log.filter(({ msg }) => msg === 'request').length
  await eventually(`${requests} requests are over`, () => ended() >= requests, { withinMs: 30_000 })
}

async function count(chunks: unknown, _call: Call) {
  let bytes = 0
  for await (const { chunk } of chunks as AsyncIterable<{ chunk: Buffer }>) bytes += chunk.length
  return json({ bytes })
}
