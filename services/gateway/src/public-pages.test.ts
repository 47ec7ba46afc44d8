import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, compileMatcher, type Route } from '@rollcall/contract'
import { html, redirectTo, renderPage } from '@rollcall/pages'
import type { RecordVisitsRequest, RecordVisitsRequestVisit } from '@rollcall/protos/gen/content-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { CallContext } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import express from 'express'
import { Redis } from 'ioredis'
import { bootGateway, type TestGateway } from '../test/gateway.ts'
import type { Backends } from './backends.ts'
import { createBounds } from './bounds.ts'
import { Exchange } from './exchange.ts'
import { publicPages } from './public-pages.ts'
import type { RateLimits } from './rate-limit.ts'
import { startShortLinks } from './short-links.ts'

const carrier = { problem: 'standard' }
const pages = [
  { verb: 'GET', path: '/p/:key', via: 'page', carrier },
  { verb: 'POST', path: '/p/:key', via: 'page', carrier },
  { verb: 'POST', path: '/api/p/:key', via: 'page', carrier },
] as unknown as Route[]
const MAX_BODY_BYTES = 2 ** 20

describe('public pages', () => {
  let answerWith: (request: PageRequest, context: CallContext) => PageResponse | Promise<PageResponse>
  let refusal: AppError | undefined
  const seen: { request: PageRequest; context: CallContext }[] = []
  const bounds = createBounds({
    BODY_MEMORY_BYTES: 2 ** 24,
    BODY_MEMORY_BYTES_PER_ADDRESS: 2 ** 23,
    ANSWER_MEMORY_BYTES: 2 ** 24,
    CLIENT_TIMEOUT_MS: scaledTimeout(5_000),
    STREAM_DEADLINE_MS: 600_000,
    UPLOAD_MAX_BYTES: 2 ** 20,
  })
  const logger = createLogger({ service: 'test', level: 'silent' })
  const reported: RecordVisitsRequestVisit[] = []
  const links = {
    recordVisits: async ({ visits }: RecordVisitsRequest) => {
      reported.push(...visits)
      return {}
    },
  }
  const handle = publicPages({
    pages,
    deadlineMs: 1000,
    logger,
    limits: {
      countPage: async exchange => {
        exchange.limitHeaders = [['RateLimit-Limit', '300']]
        if (refusal) throw refusal
        return exchange.limitHeaders
      },
    } as RateLimits,
    forms: undefined as never, // no page of these is a form
    shortLinks: startShortLinks({ links, logger }),
    backends: {
      invoker: () => async (request: unknown, context: CallContext) => {
        seen.push({ request: request as PageRequest, context })
        return answerWith(request as PageRequest, context)
      },
    } as unknown as Backends,
  })
  const match = compileMatcher(pages)
  const app = express()
  app.use((request, response) => {
    const exchange = new Exchange(request, response, match, { deadlineMs: 1000, bounds, consoleOrigins: new Set() })
    response.locals.exchange = exchange
    response.on('close', () => exchange.close())
    return handle(exchange)
  })
  const server = createServer(app)
  let url: string

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    bounds.watch.stop()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    answerWith = ({ language }) => renderPage({ language, title: 'Hello', body: html`<p>World</p>` })
    refusal = undefined
    seen.length = 0
  })

  const get = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init })

  it('hand over the key, query, language, client and headers', async () => {
    const headers = {
      'User-Agent': 'Reader/1.0',
      'Accept-Language': 'fr, de;q=0.8, en;q=0.2',
      Referer: 'https://example.com/',
      'Sec-Purpose': 'prefetch;prerender',
    }
    await get('/p/a%20b?utm=1&utm=2', { headers })
    const [{ request, context }] = seen as [(typeof seen)[number]]
    assert.deepEqual(
      { ...request, body: request.body.length },
      {
        key: 'a b',
        query: 'utm=1&utm=2',
        language: 'de',
        isHead: false,
        isPrefetch: true,
        contentType: '',
        origin: '',
        referer: 'https://example.com/',
        body: 0,
      },
    )
    assert.deepEqual(
      [context.caller.kind, context.caller.ip, context.caller.userAgent],
      ['anonymous', '127.0.0.1', 'Reader/1.0'],
    )
  })

  it('that may be reused are, for a moment; the visits are reported, except those that nobody made', async () => {
    const reuseMs = 300
    answerWith = () => ({ ...redirectTo('https://example.com/first'), reuseMs })
    const follow = async (init: RequestInit = {}) => (await get('/p/reused?utm=1', init)).headers.get('location')
    assert.equal(await follow(), 'https://example.com/first')
    const askedAt = performance.now()
    answerWith = () => redirectTo('https://example.com/second')
    const headers = { 'User-Agent': 'Reader/1.0', Referer: 'https://example.com/' }
    const locations = [await follow({ headers }), await follow({ method: 'HEAD' })]
    if (performance.now() - askedAt < reuseMs)
      assert.deepEqual([...locations, seen.length], ['https://example.com/first', 'https://example.com/first', 1])
    assert.equal(await follow({ headers: { 'Sec-Purpose': 'prefetch' } }), 'https://example.com/second')
    await eventually(
      'the redirect is over',
      async () => (await follow({ method: 'HEAD' })) === 'https://example.com/second',
    )
    await eventually('the visit is reported', () => reported.length)
    assert.deepEqual(
      reported.map(({ at: _, ...visit }) => visit),
      [{ slug: 'reused', ip: '127.0.0.1', userAgent: 'Reader/1.0', referrer: 'https://example.com/' }],
    )
  })

  it('are in English unless German is preferred', async () => {
    for (const [header, language] of [
      ['en, de;q=0.9', 'en'],
      ['de-AT', 'de'],
      ['fr', 'en'],
      ['', 'en'],
      ['*', 'en'],
    ] as const) {
      const text = await (await get('/p/x', { headers: { 'Accept-Language': header } })).text()
      assert.match(text, new RegExp(`<html lang="${language}">`), header)
    }
  })

  it('answer HEAD without a body, and say so to the service', async () => {
    const response = await get('/p/x', { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.ok(Number(response.headers.get('content-length')) > 0)
    assert.equal(await response.text(), '')
    assert.equal(seen[0]?.request.isHead, true)
  })

  it('take a body of any type, up to 1 MiB', async () => {
    await get('/p/x', {
      method: 'POST',
      body: 'a=1',
      headers: { 'Content-Type': 'text/odd', Origin: 'https://a.example' },
    })
    const { contentType, origin, body } = seen[0]!.request
    assert.deepEqual([contentType, origin, body.toString()], ['text/odd', 'https://a.example', 'a=1'])
    const refused = await get('/p/x', { method: 'POST', body: 'a'.repeat(MAX_BODY_BYTES + 1) })
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /<h1>Invalid request<\/h1>/)
    assert.equal(seen.length, 1)
  })

  it('redirect', async () => {
    answerWith = () => redirectTo('https://example.com/a?b=c#d', 303)
    const response = await get('/p/x')
    assert.deepEqual([response.status, response.headers.get('location')], [303, 'https://example.com/a?b=c#d'])
  })

  it('load nothing, are not kept, not listed and not framed; their images show in mail of any site', async () => {
    answerWith = () => ({ status: 0, contentType: 'image/gif', data: Buffer.from('GIF89a') })
    const { headers, status } = await get('/p/x')
    assert.equal(status, 200)
    const expected = {
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
      'ratelimit-limit': '300',
    }
    for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name)
    assert.equal(headers.get('set-cookie'), null)
  })

  it('have the policy that the service gives them', async () => {
    assert.match((await get('/p/x')).headers.get('content-security-policy') ?? '', /style-src 'sha256-/)
  })

  it('are the same for an unknown path and an invalid token', async () => {
    const unknown = await get('/nothing')
    answerWith = () => {
      throw new AppError('page.not_found')
    }
    const invalid = await get('/p/x')
    assert.deepEqual([unknown.status, invalid.status], [404, 404])
    assert.equal(await unknown.text(), await invalid.text())
    assert.equal(invalid.headers.get('x-error-code'), 'page.not_found')
  })

  it('refuse beyond the limit, and while the service is down', async () => {
    refusal = new AppError('request.rate_limited', { retryAfterSeconds: 7 })
    const limited = await get('/p/x', { headers: { 'Accept-Language': 'de' } })
    assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '7'])
    assert.match(await limited.text(), /<h1>Zu viele Anfragen<\/h1>/)
    assert.equal(seen.length, 0)
    refusal = undefined
    answerWith = () => {
      throw new Error('secret reason')
    }
    const failed = await get('/p/x')
    assert.equal(failed.status, 503)
    assert.ok(failed.headers.get('retry-after'))
    assert.doesNotMatch(await failed.text(), /secret/)
  })

  it('refuse in JSON under /api', async () => {
    answerWith = () => {
      throw new AppError('page.not_found')
    }
    const response = await get('/api/p/x', { method: 'POST' })
    assert.equal(response.status, 404)
    assert.deepEqual(await response.json(), { error: true, message: 'page not found' })
  })
})

describe('paths outside /api', () => {
  const limitPrefix = `test:${randomUUID()}:`
  let gateway: TestGateway
  before(async () => {
    gateway = await bootGateway({ TRUST_PROXY: '1', LIMIT_PREFIX: limitPrefix })
  })
  after(() => gateway.stop())

  it('answer a page that there is none, whatever the method and the credential', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/nothing'],
      ['POST', '/nothing'],
      ['DELETE', '/a/b'],
      ['HEAD', '/x'],
    ]) {
      const response = await fetch(gateway.url + path, {
        method: method!,
        headers: { Authorization: 'Bearer nonsense' },
      })
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response.headers.get('ratelimit-limit'), '300')
    }
  })
  it('redirect an address that follows links 3,000 times a minute, by whichever replica, and no more', async t => {
    const redirect = { ...redirectTo('https://example.com/'), reuseMs: scaledTimeout(60_000) }
    gateway.services.behaviours.set('followLink', () => redirect)
    const follow = async (from: string) => {
      const headers = { 'X-Forwarded-For': from }
      const { status, headers: answered } = await fetch(`${gateway.url}/l/summer`, { headers, redirect: 'manual' })
      return [status, answered.get('ratelimit-remaining'), answered.get('x-error-code')]
    }
    assert.deepEqual(await follow('203.0.113.1'), [302, '2999', null])
    const redis = new Redis(process.env.REDIS_CACHE_URL!)
    t.after(() => redis.disconnect())
    const [counter, ...others] = await redis.keys(`${limitPrefix}link_visit:*`)
    assert.deepEqual([typeof counter, others], ['string', []])
    await redis.incrby(counter!, 2998) // those that other replicas answered
    assert.deepEqual(await follow('203.0.113.1'), [302, '0', null])
    assert.deepEqual(await follow('203.0.113.1'), [429, '0', 'request.rate_limited'])
    assert.deepEqual(await follow('203.0.113.2'), [302, '2999', null])
    assert.equal(gateway.services.count('followLink'), 1, 'repeated redirects count as well')
  })
})
