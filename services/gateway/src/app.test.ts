import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, json, limits } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import fc from 'fast-check'
import {
  bootGateway,
  issueSession,
  issueToken,
  RPC_DEADLINE_MS,
  sendRaw,
  type TestGateway,
  userId,
} from '../test/gateway.ts'

const id = 'c0ffee'.repeat(4)

describe('the gateway', () => {
  let gateway: TestGateway
  let token: string

  before(async () => {
    gateway = await bootGateway()
    token = issueToken(gateway.services)
  })
  after(() => gateway.stop())
  beforeEach(() => {
    gateway.services.calls.length = 0
    gateway.services.behaviours.clear()
    gateway.log.length = 0
  })

  const call = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(gateway.url + path, { ...init, headers: { Authorization: token, ...init.headers } })
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, {
      method,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const problemOf = async (response: Response) => ({ status: response.status, ...((await response.json()) as object) })

  describe('answers', () => {
    it('passes finished bytes on unparsed, with their length and the status of the route', async () => {
      gateway.services.behaviours.set('createContact', () => json(Buffer.from('{ "as": "written" }')))
      const response = await send('POST', '/api/audience', { email: 'one@example.com' })
      assert.equal(response.status, 201)
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(response.headers.get('content-length'), '19')
      assert.equal(await response.text(), '{ "as": "written" }')
    })

    it('keeps every byte of a body, short or long', async () => {
      for (const length of [1, 1000, 16 * 1024, 16 * 1024 + 1, 300_000]) {
        const bytes = Buffer.from(JSON.stringify('é€😀'.repeat(Math.ceil(length / 9))))
        gateway.services.behaviours.set('getContact', () => json(bytes))
        const response = await call(`/api/audience/${id}`)
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
      }
    })

    it('writes typed messages as JSON', async () => {
      gateway.services.behaviours.set('replaceTags', () => ({ success: true, message: 'updated' }))
      const response = await send('PATCH', `/api/audience/${id}/tags`, { tags: ['a', 'b'] })
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), { success: true, message: 'updated' })
      assert.deepEqual(gateway.services.calls.at(-1)?.request, { id, tags: ['a', 'b'] })
    })

    it('offers downloads as attachments', async () => {
      gateway.services.behaviours.set('getImportSample', () => ({
        contentType: 'text/csv',
        data: Buffer.from('email'),
      }))
      const response = await call('/api/audience/import/sample')
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename="audience-sample.csv"')
      assert.equal(response.headers.get('content-type'), 'text/csv')
    })

    it('answers HEAD as GET, without the body', async () => {
      gateway.services.behaviours.set('getContact', () => json({ some: 'contact' }))
      const response = await call(`/api/audience/${id}`, { method: 'HEAD' })
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-length'), '18')
      assert.equal(await response.text(), '')
    })

    it('passes the caller on, with address and user agent', async () => {
      await call(`/api/audience/${id}`, { headers: { 'User-Agent': `probe ${'x'.repeat(1000)}` } })
      const { caller } = gateway.services.calls.at(-1)!.call
      assert.equal(caller.kind, 'token')
      assert.equal(caller.userId, userId)
      assert.equal(caller.permissions, '*')
      assert.equal(caller.ip, '127.0.0.1')
      assert.equal(caller.userAgent?.length, 256)
    })

    it('passes an id in capitals on in lower case', async () => {
      await send('PUT', `/api/tokens/${id.toUpperCase()}/allowed-ips`, { cidrs: [] })
      assert.deepEqual(gateway.services.calls.at(-1)?.request, { id, cidrs: [] })
    })

    it('says when it clamped a limit', async () => {
      const response = await call('/api/audience?$limit=5000')
      assert.equal(response.headers.get('x-limit-clamped'), '1000')
      const { list } = gateway.services.calls.at(-1)!.request as { list: { limit: number; page: number } }
      assert.deepEqual([list.limit, list.page], [1000, 1])
    })

    it('accepts a filter that is long and escaped', async () => {
      const filter = JSON.stringify({ name: '"ü"'.repeat(2_700) })
      const response = await call(`/api/audience?filter=${encodeURIComponent(filter)}`)
      assert.equal(response.status, 200)
      const { list } = gateway.services.calls.at(-1)!.request as { list: { filter: string } }
      assert.equal(list.filter, filter)
    })
  })

  describe('streams', () => {
    const page = (text: string) => ({ contentType: 'application/json; charset=utf-8', data: Buffer.from(text) })

    it('answers a stream of one chunk whole', async () => {
      gateway.services.behaviours.set('listContacts', () => page('{"docs":[]}'))
      const response = await call('/api/audience')
      assert.equal(response.headers.get('content-length'), '11')
      assert.equal(await response.text(), '{"docs":[]}')
    })

    it('answers a stream of none with nothing', async () => {
      gateway.services.behaviours.set('exportContacts', async function* () {})
      const response = await call('/api/audience/export')
      assert.equal(response.status, 200)
      assert.equal(await response.text(), '')
    })

    it('answers HEAD before the stream ends, and cancels it', async () => {
      const { promise: released, resolve } = Promise.withResolvers<void>()
      gateway.services.behaviours.set('exportContacts', async function* (_request: never, { signal }: Call) {
        signal.addEventListener('abort', () => resolve())
        for (;;) yield page('row')
      })
      const response = await call('/api/audience/export', { method: 'HEAD' })
      assert.deepEqual([response.status, await response.text()], [200, ''])
      await released
    })

    it('passes many chunks on as they come', async () => {
      gateway.services.behaviours.set('exportContacts', async function* () {
        for (let number = 0; number < 100; number++) yield page(`${number},`)
      })
      const response = await call('/api/audience/export')
      assert.equal(response.headers.get('content-length'), null)
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename="audience.csv"')
      assert.equal(await response.text(), Array.from({ length: 100 }, (_, number) => `${number},`).join(''))
    })

    it('still answers an error after the first chunk', async () => {
      gateway.services.behaviours.set('exportContacts', async function* () {
        yield page('email,')
        throw new AppError('import.undone')
      })
      const response = await call('/api/audience/export')
      assert.equal(response.headers.get('content-disposition'), null)
      assert.deepEqual(await problemOf(response), {
        status: 409,
        error: true,
        message: 'the import was already undone',
      })
    })

    it('aborts the connection when the stream fails half-way', async () => {
      gateway.services.behaviours.set('exportContacts', async function* () {
        yield page('a')
        yield page('b')
        throw new Error('half-way')
      })
      const response = await call('/api/audience/export')
      assert.equal(response.status, 200)
      await assert.rejects(response.text())
    })

    it('does not read ahead of a slow client, and cancels when it leaves', async () => {
      let produced = 0
      const { promise: released, resolve } = Promise.withResolvers<void>()
      gateway.services.behaviours.set('exportContacts', async function* (_request: never, { signal }: Call) {
        signal.addEventListener('abort', () => resolve())
        for (; produced < 10_000; produced++) yield { contentType: 'text/csv', data: Buffer.alloc(64 * 1024) }
      })
      const leave = new AbortController()
      const response = await call('/api/audience/export', { signal: leave.signal })
      const reader = response.body!.getReader()
      await reader.read()
      await stable(() => produced)
      assert.ok(produced < 1_000, `${produced} chunks were made for a client that took one`)
      leave.abort()
      await released
      await until(() => gateway.log.some(entry => entry.isAborted === true))
    })

    it('ends the request alone that cannot be answered', async () => {
      gateway.services.behaviours.set('getContact', () => {
        throw new Error('bug')
      })
      gateway.log.push = () => {
        Reflect.deleteProperty(gateway.log, 'push')
        throw new Error('disk full')
      }
      await assert.rejects(call(`/api/audience/${id}`))
      assert.equal((await call(`/api/audience/${id}`)).status, 503)
    })

    it('cancels a plain call too when the client leaves', async () => {
      const { promise: released, resolve } = Promise.withResolvers<void>()
      gateway.services.behaviours.set('getContact', (_request: never, { signal }: Call) => {
        signal.addEventListener('abort', () => resolve())
        return new Promise(() => {})
      })
      const leave = new AbortController()
      const answer = call(`/api/audience/${id}`, { signal: leave.signal }).catch(() => 'left')
      await until(() => gateway.services.count('getContact') === 1)
      leave.abort()
      assert.equal(await answer, 'left')
      await released
    })
  })

  describe('problems', () => {
    const cases: [what: string, error: AppError, status: number, body: object][] = [
      [
        'missing',
        new AppError('request.missing_field', { path: 'f' }),
        400,
        { error: true, message: 'missing field -> f', path: 'f' },
      ],
      ['refused', new AppError('sender.test_failed', { reply: 'no' }), 400, { success: false, message: 'no' }],
      ['forbidden', new AppError('access.refused'), 403, { error: true, message: 'not allowed' }],
      ['not found', new AppError('contact.not_found'), 404, { error: true, message: 'contact not found' }],
      [
        'duplicate',
        new AppError('record.duplicate', { path: 'email' }),
        409,
        { error: true, message: 'duplicate -> email', path: 'email' },
      ],
    ]
    for (const [what, error, status, body] of cases) {
      it(`answers ${what} in its shape`, async () => {
        gateway.services.behaviours.set('getContact', () => {
          throw error
        })
        const response = await call(`/api/audience/${id}`)
        assert.equal(response.headers.get('x-error-code'), error.code)
        assert.deepEqual(await problemOf(response), { status, ...body })
      })
    }

    it('answers unexpected errors with 503 and no details', async () => {
      gateway.services.behaviours.set('getContact', () => {
        throw new Error('the secret inside')
      })
      const response = await call(`/api/audience/${id}`)
      assert.equal(response.headers.get('retry-after'), '2')
      assert.deepEqual(await problemOf(response), { status: 503, error: true, message: 'service unavailable' })
    })

    it('answers 503 at the deadline', async () => {
      gateway.services.behaviours.set('getContact', () => new Promise(() => {}))
      const startedAt = performance.now()
      const response = await call(`/api/audience/${id}`)
      assert.equal(response.status, 503)
      assert.ok(performance.now() - startedAt < RPC_DEADLINE_MS + scaledTimeout(1_000))
    })

    it('answers 503 at the deadline where a stream does not begin', async () => {
      gateway.services.behaviours.set('listContacts', () => new Promise(() => {}))
      assert.equal((await call('/api/audience')).status, 503)
    })

    it('answers an unknown route with 404, without a credential with 401', async () => {
      for (const path of ['/api/nothing', '/api', '/api/audience/a/b/c/d', '/api/audience//tags']) {
        assert.deepEqual(await problemOf(await call(path)), { status: 404, error: true, message: 'route not found' })
        assert.equal((await fetch(gateway.url + path)).status, 401)
      }
      assert.equal((await call('/api/audience', { method: 'PUT' })).status, 404)
      assert.equal((await call('/api/audience', { method: 'OPTIONS' })).status, 204)
    })

    it('answers 401 in plain text, with the reason in a header', async () => {
      const response = await fetch(`${gateway.url}/api/audience`, { headers: { Authorization: 'Bearer nonsense' } })
      assert.equal(response.status, 401)
      assert.match(response.headers.get('content-type')!, /^text\/plain/)
      assert.equal(
        response.headers.get('www-authenticate'),
        'Bearer error="invalid_token", error_description="Invalid token format. Expected orgId:secret."',
      )
      assert.equal(await response.text(), 'Unauthorized')
    })
  })

  describe('bodies', () => {
    const refusals: [what: string, body: string | Buffer, headers: Record<string, string>, message: string][] = [
      ['malformed JSON', '{"email":', {}, 'malformed JSON'],
      ['JSON that is no object', '[1]', {}, 'body must be a JSON object'],
      ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'malformed JSON'],
      [
        'a form',
        'email=a',
        { 'Content-Type': 'application/x-www-form-urlencoded' },
        'content type must be application/json',
      ],
      ['no content type', '{}', { 'Content-Type': '' }, 'content type must be application/json'],
      [
        'another charset',
        '{}',
        { 'Content-Type': 'application/json; charset=latin1' },
        'content type must be application/json',
      ],
      ['compressed bytes', '{}', { 'Content-Encoding': 'gzip' }, 'content encoding is not supported'],
      ['more than 1 MiB', JSON.stringify({ name: 'x'.repeat(2 ** 20) }), {}, 'body is larger than 1 MiB'],
      [
        'nesting without end',
        `{"attributes":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
        {},
        'JSON is nested more than 100 levels deep',
      ],
    ]
    for (const [what, body, headers, message] of refusals) {
      it(`refuses ${what}`, async () => {
        const response = await call('/api/audience', {
          method: 'POST',
          body,
          headers: { 'Content-Type': 'application/json', ...headers },
        })
        assert.deepEqual(await problemOf(response), { status: 400, error: true, message })
        assert.equal(gateway.services.count('createContact'), 0)
      })
    }

    it('refuses a body of unknown length once it is too large, and stays usable', async () => {
      const request = httpRequest(`${gateway.url}/api/audience`, {
        method: 'POST',
        headers: { Authorization: token, 'Content-Type': 'application/json' },
      })
      request.write(Buffer.alloc(3 * 2 ** 20, ' ')) // what is written before the end is sent in chunks
      request.end('{}')
      const [response] = await once(request, 'response')
      assert.equal(response.statusCode, 400)
      assert.equal(JSON.parse(await text(response)).message, 'body is larger than 1 MiB')
      assert.equal((await call(`/api/audience/${id}/unblock`, { method: 'PATCH' })).status, 200)
    })

    it('names the invalid field', async () => {
      const invalid = await send('POST', '/api/audience', { email: 1 })
      assert.deepEqual(await problemOf(invalid), {
        status: 400,
        error: true,
        message: 'invalid field -> email: must be a string',
        path: 'email',
      })
      assert.equal(
        ((await problemOf(await send('POST', '/api/audience', {}))) as { message?: string }).message,
        'missing field -> email',
      )
      const polluting = await send('POST', '/api/audience', '{"email":"a@example.com","__proto__":{"admin":true}}')
      assert.deepEqual(await problemOf(polluting), {
        status: 400,
        error: true,
        message: 'extra field -> __proto__',
        path: '__proto__',
      })
    })

    it('treats no body as an empty one', async () => {
      const response = await call(`/api/audience/${id}/unblock`, { method: 'PATCH' })
      assert.equal(response.status, 200)
    })

    it('does not read a body before the guard', async () => {
      const reader = issueToken(gateway.services, { permissions: ['audience.read'] })
      const response = await send('POST', '/api/audience', '{"broken', { Authorization: reader })
      assert.deepEqual(await problemOf(response), {
        status: 403,
        error: true,
        message: 'Permission denied: audience.create',
      })
    })
  })

  describe('queries', () => {
    it('refuses malformed percent-encoding', async () => {
      for (const query of ['filter=%E0%A4%A', 'filter=%ff', 'filter=%']) {
        assert.deepEqual(await problemOf(await call(`/api/audience?${query}`)), {
          status: 400,
          error: true,
          message: 'malformed percent-encoding in the query',
        })
      }
      assert.equal((await problemOf(await call('/api/audience/%E0%A4%A'))).status, 400)
    })

    it('refuses a repeated filter and an unknown parameter', async () => {
      const twice = await problemOf(await call('/api/audience?filter={}&filter={}'))
      assert.deepEqual(twice, {
        status: 400,
        error: true,
        message: 'invalid field -> filter: given more than once',
        path: 'filter',
      })
      const unknown = await problemOf(await call('/api/audience?page=2'))
      assert.deepEqual(unknown, { status: 400, error: true, message: 'extra field -> page', path: 'page' })
    })

    it('never answers anything but 200 or 400 to a query, whatever it is', async () => {
      const text = fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('filter', '$page', '%', '&', '=', '__proto__'),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 5 }), async pairs => {
          const query = pairs.map(([name, value]) => `${encodeSafely(name)}=${encodeSafely(value)}`).join('&')
          const { status } = await call(`/api/audience?${query}`)
          assert.ok(status === 200 || status === 400, `${status} for ${query}`)
        }),
        { numRuns: 100 },
      )
    })
  })

  describe('malformed requests', () => {
    const bodyOf = (received: string) => JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)) as object
    const cases: [what: string, bytes: string, message: string][] = [
      ['broken syntax', 'NONSENSE\r\n\r\n', 'malformed HTTP request'],
      [
        'a head that is too large',
        `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
        'request head too large',
      ],
      [
        'two lengths of one body',
        'POST /api/audience HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'malformed HTTP request',
      ],
    ]
    for (const [what, bytes, message] of cases) {
      it(`answers ${what} with 400 in the shape of errors`, async () => {
        const received = await sendRaw(gateway.port, bytes)
        assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\n/)
        assert.match(received, /\r\nX-Request-Id: [\w-]{36}\r\n/)
        assert.deepEqual(bodyOf(received), { error: true, message })
      })
    }

    it('answers a body of broken chunks with 400', async () => {
      const head = `POST /api/audience HTTP/1.1\r\nHost: a\r\nAuthorization: ${token}\r\nContent-Type: application/json\r\n`
      const received = await sendRaw(gateway.port, `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
      assert.match(received, /^HTTP\/1\.1 400 /)
    })

    it('closes the connection of a refused client that keeps sending', async () => {
      const head =
        'POST /api/audience HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
      assert.match(await sendRaw(gateway.port, head), /^HTTP\/1\.1 401 /)
    })

    it('does not mix the answer to a broken request with one in progress', async () => {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      gateway.services.behaviours.set('getContact', () => promise)
      const good = `GET /api/audience/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: ${token}\r\n\r\n`
      const received = await sendRaw(gateway.port, `${good}NONSENSE\r\n\r\n`)
      resolve(json({}))
      assert.equal(received, '')
    })

    it('refuses a request without a host', async () => {
      const received = await sendRaw(
        gateway.port,
        `GET /api/audience HTTP/1.1\r\nAuthorization: ${token}\r\nConnection: close\r\n\r\n`,
      )
      assert.match(received, /^HTTP\/1\.1 400 /)
      assert.deepEqual(bodyOf(received), { error: true, message: 'Host header is missing' })
    })

    it('accepts a target in absolute form, and refuses one that it cannot parse', async () => {
      const head = `Host: a\r\nAuthorization: ${token}\r\nConnection: close\r\n\r\n`
      assert.match(
        await sendRaw(gateway.port, `GET http://a/api/audience/${id} HTTP/1.1\r\n${head}`),
        /^HTTP\/1\.1 200 /,
      )
      assert.match(await sendRaw(gateway.port, `GET http://a:b:c/ HTTP/1.1\r\n${head}`), /^HTTP\/1\.1 4\d\d /)
      assert.match(await sendRaw(gateway.port, `OPTIONS * HTTP/1.1\r\n${head}`), /^HTTP\/1\.1 404 /)
    })

    it('ignores an unknown expectation', async () => {
      const received = await sendRaw(
        gateway.port,
        `GET /api/audience/${id} HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nAuthorization: ${token}\r\nConnection: close\r\n\r\n`,
      )
      assert.match(received, /^HTTP\/1\.1 200 /)
    })

    it('answers 4xx to any bytes, and keeps running', async () => {
      const line = fc.oneof(
        fc.string(),
        fc.constantFrom('GET / HTTP/1.1', 'Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked', ''),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 6 }), async lines => {
          const bytes = `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n\r\n\0\0`
          const received = await sendRaw(gateway.port, bytes, text => text.includes('\r\n\r\n'))
          assert.match(received, /^(HTTP\/1\.[01] 4\d\d |$)/)
        }),
        { numRuns: 60 },
      )
      assert.equal((await call(`/api/audience/${id}`)).status, 200)
    })
  })

  describe('heads', () => {
    it('keeps a valid request id and replaces an invalid one', async () => {
      const idFor = async (given?: string) =>
        (
          await call(`/api/audience/${id}`, given === undefined ? {} : { headers: { 'X-Request-Id': given } })
        ).headers.get('x-request-id')
      assert.equal(await idFor('trace-1:a.b/c=d+e'), 'trace-1:a.b/c=d+e')
      assert.equal(gateway.services.calls.at(-1)?.call.requestId, 'trace-1:a.b/c=d+e')
      for (const given of [undefined, '', 'with space', '<script>', 'x'.repeat(129)]) {
        assert.match((await idFor(given))!, /^[\da-f-]{36}$/)
      }
    })

    it('shows the limits on every answer under /api', async () => {
      const answers = [
        await call(`/api/audience/${id}`),
        await call('/api/nothing'),
        await fetch(`${gateway.url}/api/audience`),
        await send('POST', '/api/audience', '{'),
      ]
      assert.deepEqual(
        answers.map(answer => answer.status),
        [200, 404, 401, 400],
      )
      for (const { headers } of answers) {
        assert.equal(headers.get('ratelimit-policy'), '500;w=3')
        assert.equal(headers.get('ratelimit-limit'), '500')
        assert.match(headers.get('ratelimit-remaining')!, /^\d{1,3}$/)
        assert.match(headers.get('ratelimit-reset')!, /^[0-3]$/)
        assert.equal(headers.get('x-ratelimit-limit'), null)
      }
    })

    it('shows the stricter limit of a route', async () => {
      const { headers } = await call('/api/auth/me')
      assert.equal(headers.get('ratelimit-policy'), `${limits.auth.requests};w=60`)
    })

    it('has security headers, and none about the software', async () => {
      const { headers } = await call(`/api/audience/${id}`)
      assert.equal(headers.get('x-powered-by'), null)
      assert.equal(headers.get('etag'), null)
      assert.equal(headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'")
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.match(headers.get('strict-transport-security')!, /^max-age=\d+/)
      assert.equal(headers.get('cache-control'), 'no-store')
    })
  })

  describe('the log and the metrics', () => {
    it('hold one line a request, and no secret', async () => {
      const session = issueSession(gateway.services)
      await fetch(`${gateway.url}/api/audience/${id}?x=searched`, {
        headers: { Cookie: `auth_token=${session}`, 'X-Request-Id': 'one' },
      })
      await call('/api/audience/mistyped/secret-in-path', { headers: { 'X-Request-Id': 'two' } })
      await fetch(`${gateway.url}/api/audience`, { headers: { 'X-Request-Id': 'three' } })
      await until(() => gateway.log.filter(entry => entry.msg === 'request').length === 3)
      const [one, two, three] = ['one', 'two', 'three'].map(
        name => gateway.log.find(entry => entry.requestId === name)!,
      )
      assert.deepEqual(
        [one?.method, one?.route, one?.status, one?.auth, one?.code],
        ['GET', '/api/audience/:id', 400, 'session', 'request.extra_field'],
      )
      assert.deepEqual([two?.route, two?.status], ['(none)', 404])
      assert.deepEqual([three?.status, three?.reason], [401, 'No credential.'])
      const written = JSON.stringify(gateway.log)
      for (const secret of [session, token, token.split(':')[1]!, 'searched', 'secret-in-path']) {
        assert.ok(!written.includes(secret))
      }
    })

    it('count by route pattern and status', async () => {
      await call(`/api/audience/${id}`)
      await call('/api/audience/no-such-route/a/b/c')
      await until(() => gateway.log.filter(entry => entry.msg === 'request').length === 2)
      const text = await gateway.lifecycle.metrics.registry.metrics()
      assert.match(
        text,
        /rollcall_http_requests_total\{method="GET",route="\/api\/audience\/:id",status="200",service="gateway"\} \d+/,
      )
      assert.match(
        text,
        /rollcall_http_requests_total\{method="GET",route="\(none\)",status="404",service="gateway"\} \d+/,
      )
      assert.match(text, /rollcall_http_request_duration_seconds_count\{/)
      assert.match(text, /rollcall_credential_lookups_total\{kind="token",result="(hit|miss)",service="gateway"\} \d+/)
    })
  })

  describe('the reference', () => {
    it('describes the API to anyone', async () => {
      const response = await fetch(`${gateway.url}/openapi.json`)
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type')!, /^application\/json/)
      const description = (await response.json()) as { openapi: string; paths: object }
      assert.equal(description.openapi, '3.1.0')
      assert.ok('/api/audience/{id}' in description.paths)
      assert.match(response.headers.get('x-request-id')!, /^[\da-f-]{36}$/)
    })

    it('is pages that load their own files only, which are kept for a year', async () => {
      const response = await fetch(`${gateway.url}/docs`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('cache-control'), 'no-cache')
      assert.equal(
        response.headers.get('content-security-policy'),
        "default-src 'none';script-src 'self';style-src 'self';img-src data:;base-uri 'none';form-action 'none';frame-ancestors 'none'",
      )
      const page = await response.text()
      const files = [...page.matchAll(/<(?:script src|link rel="stylesheet" href)="([^"]+)"/g)].map(match => match[1]!)
      assert.equal(files.length, 2)
      for (const file of files) {
        const loaded = await fetch(gateway.url + file)
        assert.equal(loaded.status, 200, file)
        assert.match(loaded.headers.get('content-type')!, /javascript|css/)
        assert.match(loaded.headers.get('cache-control')!, /immutable/)
      }
      await until(() => gateway.log.some(entry => entry.route === '/docs'))
    })

    it('is compressed for those who understand it', async () => {
      for (const encoding of ['gzip', 'identity']) {
        const response = await fetch(`${gateway.url}/docs/contacts`, { headers: { 'Accept-Encoding': encoding } })
        assert.equal(response.headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null)
        assert.match(await response.text(), /<h1>Contacts<\/h1>/)
      }
    })

    it('offers nothing else', async () => {
      for (const path of ['/docs/index.html', '/docs/../package.json', '/docs/%2e%2e%2fpackage.json']) {
        assert.equal((await fetch(gateway.url + path)).status, 404)
      }
    })
  })
})

/** Percent-encodes what can be; a lone half of a character is sent as a broken escape. */
function encodeSafely(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}

const until = (condition: () => boolean) => eventually('the gateway gets there', condition, { everyMs: 1 })

/** Waits until a number has not changed for a while. */
async function stable(value: () => number): Promise<void> {
  for (let last = -1; last !== value(); ) {
    last = value()
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}
