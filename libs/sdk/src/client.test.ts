import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  type Attempt,
  BadRequestError,
  type Client,
  type ClientOptions,
  ConflictError,
  ConnectionError,
  createClient,
  RateLimitError,
  RollcallError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from './index.ts'

type Answer = (response: ServerResponse) => unknown

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
/** Closes the connection without an answer. */
const lost: Answer = response => response.destroy()
/** Begins an answer and closes the connection. */
const cut: Answer = response => {
  response.writeHead(200, { 'content-length': 1000 }).write('{"docs":[')
  setTimeout(() => response.destroy(), 20)
}
/** Never answers. */
const silent: Answer = () => undefined
const soon = { 'retry-after': '0' }
const unavailable = json(503, { error: true, message: 'down' }, { ...soon, 'x-error-code': 'service.unavailable' })
const limited = json(429, { success: false, message: 'slow down' }, soon)
const unfinished = json(409, { error: true, message: 'running' }, { ...soon, 'x-error-code': 'idempotency.unfinished' })

describe('the client', () => {
  let server: Server
  let baseUrl: string
  let answers: Answer[]
  let requests: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string })[]
  const client = (options: ClientOptions = {}): Client => createClient({ baseUrl, token: 'secret', ...options })
  const willAnswer = (...given: Answer[]) => {
    answers = given
  }
  const keys = () => requests.map(({ headers }) => headers['idempotency-key'])

  before(async () => {
    server = createServer(async (request, response) => {
      const { method, url, headers } = request
      requests.push({ method, url, headers, body: await text(request).catch(() => '') })
      ;(answers.shift() ?? json(200, {}))(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  beforeEach(() => {
    answers = []
    requests = []
  })

  it('sends path variables, parameters, the body and the token', async () => {
    await client().members.update('w/1', 'u', { role: 'admin' })
    await client().contacts.list({ page: 2, limit: 5, filter: { 'attributes.city': 'Oslo' }, sort: { createdAt: -1 } })
    const [changed, listed] = requests
    assert.deepEqual(
      [changed?.method, changed?.url, changed?.body],
      ['PATCH', '/api/workspaces/w%2F1/members/u', '{"role":"admin"}'],
    )
    assert.equal(changed?.headers.authorization, 'Bearer secret')
    assert.deepEqual(Object.fromEntries(new URL(listed?.url ?? '', baseUrl).searchParams), {
      $page: '2',
      $limit: '5',
      filter: '{"attributes.city":"Oslo"}',
      sort: '{"createdAt":-1}',
    })
  })

  it('asks for the token at each attempt, if it is a function', async () => {
    const tokens = ['first', Promise.resolve('second'), undefined]
    const changing = client({ token: async () => tokens.shift() })
    for (const _ of [1, 2, 3]) await changing.account.get()
    assert.deepEqual(
      requests.map(({ headers }) => headers.authorization),
      ['Bearer first', 'Bearer second', undefined],
    )
  })

  it('makes keys where pages by plain http have no randomUUID', async t => {
    t.mock.method(crypto, 'randomUUID', () => assert.fail('not a secure context'))
    await client().contacts.create({ email: 'a@example.com' })
    assert.match(keys()[0] as string, /^[0-9a-f]{32}$/)
  })

  it('follows no redirect, which would lose the body or the token, and names its target', async () => {
    willAnswer(response => response.writeHead(301, { location: 'https://api.example.com/api/contacts' }).end())
    await assert.rejects(client().contacts.create({ email: 'a@example.com' }), {
      name: 'RollcallError',
      status: 301,
      message: /redirects to https:\/\/api\.example\.com\/api\/contacts: use the address of the API as baseUrl$/,
    })
    assert.equal(requests.length, 1)
  })

  it('sends no credential without a token: the browser sends its cookie', async () => {
    await createClient({ baseUrl }).authentication.getMe()
    assert.equal(requests[0]?.headers.authorization, undefined)
    assert.throws(() => createClient(), TypeError)
  })

  it('refuses a path variable that would lead to another path', async () => {
    for (const id of ['', '.', '..', undefined as unknown as string])
      assert.throws(() => client().contacts.delete(id), TypeError)
    assert.equal(requests.length, 0)
  })

  describe('repeats what is safe to repeat', () => {
    const passing = [lost, cut, unavailable, limited, json(502, {}, soon), json(504, {}, soon)]
    for (const [index, answer] of passing.entries()) {
      it(`after failure ${index + 1}: reads, changes, and creations with the same key`, async () => {
        for (const perform of [
          () => client().contacts.get('c'),
          () => client().contacts.update('c', { name: 'n' }),
          () => client().providers.set({ kind: 'self-hosted' }),
          () => client().contacts.create({ email: 'a@example.com' }),
        ]) {
          requests = []
          willAnswer(answer, json(200, { id: 'made' }))
          await perform()
          assert.equal(requests.length, 2)
          assert.equal(keys()[0], keys()[1])
          assert.equal(requests[0]?.body, requests[1]?.body)
        }
      })
    }

    it('deletes only where the API did nothing', async () => {
      willAnswer(limited, json(200, {}))
      await client().contacts.delete('c')
      assert.equal(requests.length, 2)
      willAnswer(lost)
      await assert.rejects(client().contacts.delete('c'), ConnectionError)
      assert.equal(requests.length, 3)
    })

    it('starts a job by PATCH again only where the API did nothing', async () => {
      const change = () => client().bulk.changeContacts({ emails: ['a@example.com'], change: { addTags: ['t'] } })
      willAnswer(limited, json(200, { jobId: 'j' }))
      await change()
      assert.equal(requests.length, 2)
      for (const answer of [lost, unavailable]) {
        requests = []
        willAnswer(answer)
        await assert.rejects(change(), RollcallError)
        assert.equal(requests.length, 1)
      }
    })

    it('never a POST that accepts no key', async () => {
      willAnswer(limited)
      await assert.rejects(client().authentication.login({ email: 'a@example.com', password: 'p' }), RateLimitError)
      assert.deepEqual(keys(), [undefined])
    })

    it('waits for the first attempt if that is still running', async () => {
      willAnswer(lost, unfinished, json(201, { id: 'made' }))
      assert.equal((await client().contacts.create({ email: 'a@example.com' })).id, 'made')
      assert.equal(new Set(keys()).size, 1)
      willAnswer(unfinished)
      await assert.rejects(
        client().contacts.create({ email: 'a@example.com' }, { idempotencyKey: 'mine' }),
        ConflictError,
      )
      assert.equal(keys().at(-1), 'mine')
      assert.equal(requests.length, 4)
    })

    it('up to maxRetries times, and waits as long as the API says', async () => {
      willAnswer(...Array<Answer>(10).fill(unavailable))
      await assert.rejects(client().contacts.get('c'), UnavailableError)
      assert.equal(requests.length, 3)
      await assert.rejects(client({ maxRetries: 4 }).contacts.get('c', { maxRetries: 0 }), UnavailableError)
      assert.equal(requests.length, 4)
      const startedAt = performance.now()
      willAnswer(json(429, {}, { 'retry-after': '1' }))
      await client().contacts.get('c')
      assert.ok(performance.now() - startedAt >= 1_000)
    })

    it('without a key of its own where the API has too many in store, and not after a long Retry-After', async () => {
      const full = { 'retry-after': '3600', 'x-error-code': 'quota.too_many_pending' }
      willAnswer(json(429, {}, full), json(201, { id: 'made' }))
      await client().contacts.create({ email: 'a@example.com' })
      assert.deepEqual([keys()[0]?.length, keys()[1]], [32, undefined])
      willAnswer(json(429, {}, full))
      const own = client().contacts.create({ email: 'a@example.com' }, { idempotencyKey: 'mine' })
      await assert.rejects(own, error => error instanceof RateLimitError && error.retryAfterMs === 3_600_000)
      assert.equal(requests.length, 3)
    })

    it('but no refusal, and no answer of something else', async () => {
      const refusal = { error: true, message: 'invalid field -> email: must be an email address', path: 'email' }
      willAnswer(json(400, refusal, { 'x-error-code': 'request.invalid_field', 'x-request-id': 'r' }))
      await assert.rejects(client().contacts.create({ email: 'a' }), error => {
        assert.ok(error instanceof BadRequestError)
        const { status, code, path, message, requestId } = error
        assert.deepEqual(
          { status, code, path, message, requestId },
          { status: 400, code: 'request.invalid_field', path: 'email', message: refusal.message, requestId: 'r' },
        )
        return true
      })
      willAnswer(response => response.end('<html>'))
      await assert.rejects(client().contacts.get('c'), { name: 'RollcallError', message: 'the answer is not JSON' })
      const reason = { 'www-authenticate': 'Bearer error="invalid_token", error_description="token expired"' }
      willAnswer(response => response.writeHead(401, reason).end('Unauthorized'))
      await assert.rejects(
        client().contacts.get('c'),
        error => error instanceof UnauthorizedError && error.message === 'token expired',
      )
      assert.equal(requests.length, 3)
    })
  })

  it('creates once with a key and twice without, if an answer is lost', async () => {
    const made = new Map<string, string>()
    for (const isNaive of [false, true]) {
      made.clear()
      requests = []
      const once: Answer = response => {
        const key = requests.at(-1)?.headers['idempotency-key'] ?? `none ${made.size}`
        if (!made.has(String(key))) made.set(String(key), 'record')
        if (requests.length === 1) response.destroy()
        else json(201, { id: 'record' })(response)
      }
      willAnswer(once, once)
      const naive: typeof fetch = (url, init) => {
        const { 'idempotency-key': _, ...headers } = { ...init?.headers } as Record<string, string>
        return fetch(url, { ...init, headers })
      }
      await client(isNaive ? { fetch: naive } : {}).workspaces.create({ name: 'w' })
      assert.equal(made.size, isNaive ? 2 : 1)
    }
  })

  it('is aborted by a signal: while it waits for an answer, between attempts and while it reads', async () => {
    const reason = new Error('enough')
    let controller: AbortController
    const aborted = () => {
      controller = new AbortController()
      return { signal: controller.signal }
    }
    const abort = () => controller.abort(reason) // once the request has arrived, so that it takes no later answer
    willAnswer(abort)
    await assert.rejects(client().contacts.get('c', aborted()), reason)
    willAnswer(response => {
      json(503, {}, { 'retry-after': '60' })(response)
      setTimeout(abort, 30)
    })
    await assert.rejects(client().contacts.get('c', aborted()), reason)
    willAnswer(response => response.writeHead(200).write('[{"id":"1"},'))
    const seen: string[] = []
    await assert.rejects(async () => {
      for await (const { id } of client().contacts.list({}, aborted())) {
        seen.push(id)
        setImmediate(abort)
      }
    }, reason)
    assert.deepEqual(seen, ['1'])
    assert.equal(requests.length, 3)
  })

  it('gives up after its timeout', async () => {
    willAnswer(silent, silent)
    await assert.rejects(client({ timeoutMs: 300, maxRetries: 1 }).contacts.get('c'), TimeoutError)
    assert.equal(requests.length, 2)
  })

  describe('a list', () => {
    it('requests nothing until it is used', async () => {
      client().contacts.list()
      await client().contacts.get('c')
      assert.equal(requests.length, 1)
    })

    it('yields records as they come, however the answer is cut into parts', async () => {
      const records = [{ id: '\\' }, { id: '"]}' }, { id: 'x', list: [1, { deep: [{}] }] }, { id: 'ä\n' }]
      const bytes = Buffer.from(`${JSON.stringify(records).replaceAll('},{', '} ,\n {')}\n`)
      for (const size of [1, 3, 1000]) {
        willAnswer(response => {
          for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
          response.end()
        })
        const seen: unknown[] = []
        for await (const record of client().contacts.list({ filter: { tags: 'vip' } })) seen.push(record)
        assert.deepEqual(seen, records)
      }
      assert.match(requests[0]?.url ?? '', /\?filter=.*&pagination=false$/)
    })

    it('ends with an error if the answer ends early, and closes the connection if it is left early', async () => {
      const read = async () => {
        for await (const _ of client().contacts.list());
      }
      for (const answer of ['[{"id":"1"}', '[{"id":'])
        for (const end of [lost, (response: ServerResponse) => response.end()]) {
          willAnswer(response => {
            response.write(answer)
            setTimeout(() => end(response), 20)
          })
          await assert.rejects(read(), ConnectionError)
        }
      const closed = Promise.withResolvers<void>()
      willAnswer(response => {
        response.on('close', closed.resolve).write('[{"id":"1"},')
      })
      for await (const _ of client().contacts.list()) break
      await closed.promise
    })
  })

  it('reports every response', async () => {
    const seen: [number, Attempt['call'], number][] = []
    const onResponse: ClientOptions['onResponse'] = ({ status }, { call, number }) => seen.push([status, call, number])
    willAnswer(unavailable, json(200, {}))
    await client({ onResponse }).contacts.get('c')
    assert.deepEqual(seen, [
      [503, 'contacts.get', 0],
      [200, 'contacts.get', 1],
    ])
  })

  it('rejects with what a function of the caller throws, without a repetition', async () => {
    const bug = new Error('bug in the logger')
    const fail = () => {
      throw bug
    }
    await assert.rejects(client({ onResponse: fail }).contacts.create({ email: 'a@example.com' }), bug)
    assert.equal(requests.length, 1)
    await assert.rejects(client({ token: fail }).contacts.get('c'), bug)
    assert.equal(requests.length, 1)
  })

  it('waits for a job on while the API restarts', async () => {
    const away = Array.from({ length: 3 }, () => lost)
    willAnswer(json(200, { state: 'active', progress: 0 }), ...away, json(200, { state: 'completed', progress: 1 }))
    const { state } = await client({ maxRetries: 0 }).imports.wait('j')
    assert.equal(state, 'completed')
    willAnswer(json(404, { error: true, message: 'unknown' }))
    await assert.rejects(client().imports.wait('j'), { status: 404 })
  })

  it('waits for a job', async () => {
    const states = ['waiting', 'active', 'completed']
    willAnswer(...states.map(state => json(200, { state, progress: 1 })))
    const seen: string[] = []
    const { state } = await client().imports.wait('j', { onProgress: status => seen.push(status.state) })
    assert.equal(state, 'completed')
    assert.deepEqual(seen, states)
  })

  describe('an upload', () => {
    const file = new File(['email\n', 'a@example.com\n'], 'who "is".csv')

    it('sends a form, again after a failure, with the same key', async () => {
      willAnswer(lost, json(200, { importId: 'i' }))
      await client().imports.upload(file)
      const [first, second] = requests
      assert.match(
        second?.body ?? '',
        /name="file"; filename="who %22is%22.csv"\r\n.*\r\n\r\nemail\na@example.com\n\r\n--/s,
      )
      assert.equal(keys()[0], keys()[1])
      assert.equal(first?.headers.authorization, 'Bearer secret')
    })

    it('says how much of a stream was sent', async () => {
      const shares: number[] = []
      await client().imports.upload(file, { onProgress: share => shares.push(share) })
      assert.match(
        requests[0]?.body ?? '',
        /name="file"; filename="who %22is%22.csv"\r\n.*\r\n\r\nemail\na@example.com\n\r\n--/s,
      )
      assert.equal(shares.at(-1), 1)
    })

    it('goes by XMLHttpRequest in a browser, where progress is wanted', async t => {
      Object.assign(globalThis, { XMLHttpRequest: FakeXhr })
      t.after(() => Object.assign(globalThis, { XMLHttpRequest: undefined }))
      const shares: number[] = []
      const onProgress = (share: number) => shares.push(share)
      willAnswer(json(200, { importId: 'i' }), json(400, { error: true, message: 'the file is empty' }))
      assert.equal((await client().imports.upload(file, { onProgress })).importId, 'i')
      assert.deepEqual(shares, [0.5])
      assert.match(requests[0]?.headers['idempotency-key'] as string, /^[0-9a-f]{32}$/)
      await assert.rejects(client().imports.upload(file, { onProgress }), BadRequestError)
      const enough = new Error('enough')
      const controller = new AbortController()
      const { signal } = controller
      willAnswer(() => controller.abort(enough))
      await assert.rejects(client().imports.upload(file, { onProgress, signal }), enough)
      const sent = requests.length
      willAnswer(json(200, { importId: 'i' }))
      const aborted = { onProgress, signal: AbortSignal.abort() }
      await assert.rejects(client().imports.upload(file, aborted), { name: 'AbortError' })
      assert.equal(requests.length, sent)
    })
  })

  it('takes back what the API answered', async () => {
    const { imports, contacts, segments, roles } = client()
    const upload = await imports.upload(new File(['email'], 'contacts.csv'))
    await imports.start({ importId: upload.importId, mapping: upload.suggestedMapping })
    const segment = await segments.get('s')
    await contacts.list({ filter: segment.filter, sort: segment.sort })
    const role = await roles.get('r')
    await roles.save({ name: 'copy', kind: 'api', permissions: role.permissions })
  })

  it('types filters by the fields of the record', () => {
    const { contacts } = client()
    contacts.list({
      filter: { email: { $regex: '^a' }, 'attributes.age': { $gte: 18 }, $or: [{ tags: 'a' }, { tags: { $size: 0 } }] },
    })
    // @ts-expect-error: no such field
    contacts.list({ filter: { emial: 'a' } })
    // @ts-expect-error: no such operator
    contacts.list({ filter: { email: { $where: 'a' } } })
    // @ts-expect-error: not a text
    contacts.list({ filter: { blocked: 'yes' } })
    // @ts-expect-error: not one of its values
    contacts.list({ filter: { source: 'post' } })
    // @ts-expect-error: no array
    contacts.list({ filter: { email: { $size: 1 } } })
    assert.equal(RollcallError.name, 'RollcallError')
  })

  it('types what bodies may hold', async () => {
    const { messages, tokens, workspaces, roles } = client()
    // @ts-expect-error: neither an address nor a contact
    await messages.send({ to: 42, subject: 's' })
    // @ts-expect-error: no date
    await tokens.create({ name: 'n', expiresAt: {} })
    // @ts-expect-error: no number
    await workspaces.create({ name: 'n', seats: 'many' })
    // @ts-expect-error: no array of actions
    await roles.save({ name: 'n', kind: 'api', permissions: { audience: 'everything' } })
    assert.equal(requests.length, 4)
  })
})

/** What uploads use of XMLHttpRequest, over fetch. */
class FakeXhr {
  upload = { onprogress: (_: { loaded: number; total: number }) => {} }
  onload = () => {}
  onerror = () => {}
  status = 0
  statusText = ''
  responseText = ''
  #url = ''
  #method = ''
  #headers: Record<string, string> = {}
  #answered = new Headers()
  #aborting = new AbortController()

  open(method: string, url: string) {
    this.#method = method
    this.#url = url
  }
  setRequestHeader(name: string, value: string) {
    this.#headers[name] = value
  }
  getAllResponseHeaders() {
    return [...this.#answered].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  }
  abort() {
    this.#aborting.abort()
  }
  async send(body: FormData) {
    this.upload.onprogress({ loaded: 1, total: 2 })
    try {
      const init = { method: this.#method, headers: this.#headers, body, signal: this.#aborting.signal }
      const response = await fetch(this.#url, init)
      this.#answered = response.headers
      this.responseText = await response.text()
      Object.assign(this, { status: response.status, statusText: response.statusText })
      this.onload()
    } catch {
      if (!this.#aborting.signal.aborted) this.onerror()
    }
  }
}
