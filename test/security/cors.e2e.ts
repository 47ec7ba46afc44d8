import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { bodyOf, makeToken } from '../api.ts'
import { launchBrowser } from '../console/browser.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'

const CONSOLE_ORIGIN = 'https://console.example.com'
const ALLOWED = 'https://app.example.com'
const FOREIGN = 'https://elsewhere.example.com'

describe('requests of web pages from other origins', () => {
  let stack: TestStack
  let token: string
  before(async () => {
    stack = await startStack({
      settings: { ...manyAddresses, REGISTRATION: 'open' },
      settingsOf: { gateway: { CONSOLE_ORIGINS: CONSOLE_ORIGIN } },
    })
    token = (await makeToken(stack.owner)).token
    await allow([ALLOWED])
  })
  after(() => stack?.stop())

  const allow = (allowedOrigins: string[]) => bodyOf(stack.owner.patch('/api/settings', { allowedOrigins }))
  const from = (origin: string, credential?: string) =>
    fromElsewhere(credential === undefined ? stack.api : stack.api.as(credential)).with({ origin })
  const cors = ({ headers }: { headers: Headers }) => ({
    origin: headers.get('access-control-allow-origin'),
    credentials: headers.get('access-control-allow-credentials'),
  })
  const preflight = (origin: string, path = '/api/audience') =>
    fetch(new URL(path, stack.urls[0]), {
      method: 'OPTIONS',
      headers: { ...fromElsewhere(stack.api).headers, origin, 'access-control-request-method': 'POST' },
    })
  const allowed = { origin: ALLOWED, credentials: null }
  const refused = { origin: null, credentials: null }

  it('name the origin to those that the organization allows, on refusals too', async () => {
    const answer = await from(ALLOWED, token).get('/api/audience')
    assert.deepEqual([answer.status, cors(answer)], [200, allowed])
    assert.equal(answer.headers.get('vary'), 'Origin')
    const exposed = answer.headers.get('access-control-expose-headers')!.split(', ')
    for (const name of ['X-Request-Id', 'X-Error-Code', 'Retry-After', 'RateLimit-Remaining'])
      assert.ok(exposed.includes(name), name)
    assert.deepEqual(cors(await from(ALLOWED, token).get('/api/nothing')), allowed)
    assert.deepEqual(cors(await from(ALLOWED, token).post('/api/audience', {})), allowed)
    assert.deepEqual(cors(await from(FOREIGN, token).get('/api/audience')), refused)
    assert.equal((await stack.owner.get('/api/audience')).headers.get('vary'), 'Origin')
  })

  it('are held to their own organization, and to its settings at once', async () => {
    const register = { name: 'Other', email: 'other@example.com', password: 'made for tests only' }
    const other = await bodyOf(fromElsewhere(stack.api).post<{ token: string }>('/api/auth/register', register), 201)
    assert.deepEqual(cors(await from(ALLOWED, other.token).get('/api/audience')), refused)
    assert.deepEqual(cors(await from(ALLOWED, 'no.valid.jwt').get('/api/audience')), refused)
    assert.deepEqual(cors(await from(ALLOWED).post('/api/auth/login', OWNER)), refused)
    await allow([])
    assert.deepEqual(cors(await from(ALLOWED, token).get('/api/audience')), refused)
    await allow([ALLOWED])
    assert.deepEqual(cors(await from(ALLOWED, token).get('/api/audience')), allowed)
  })

  it('may use the session cookie from a console, and no other origin may', async () => {
    const named = { origin: CONSOLE_ORIGIN, credentials: 'true' }
    const signedIn = await from(CONSOLE_ORIGIN).post<{ token: string }>('/api/auth/login', OWNER)
    assert.deepEqual(cors(signedIn), named)
    assert.deepEqual(cors(await from(CONSOLE_ORIGIN).post('/api/auth/login', { ...OWNER, password: 'wrong' })), named)
    const change = (origin: string) =>
      from(origin)
        .with({ cookie: `auth_token=${signedIn.body.token}`, 'sec-fetch-site': 'same-site' })
        .patch('/api/me', { name: 'Owner' })
    assert.equal((await change(CONSOLE_ORIGIN)).status, 200)
    const foreign = await change(ALLOWED)
    assert.deepEqual([foreign.status, foreign.headers.get('x-error-code')], [403, 'access.cross_origin'])
  })

  it('are asked for without a credential: 204, with the origin if any organization allows it', async () => {
    const answer = await preflight(ALLOWED)
    assert.deepEqual([answer.status, await answer.text(), cors(answer)], [204, '', allowed])
    assert.match(answer.headers.get('access-control-allow-methods')!, /PATCH/)
    assert.match(answer.headers.get('access-control-allow-headers')!, /Authorization/)
    assert.equal(answer.headers.get('vary'), 'Origin')
    assert.equal(answer.headers.get('content-length'), null)
    assert.deepEqual(cors(await preflight(CONSOLE_ORIGIN)), { origin: CONSOLE_ORIGIN, credentials: 'true' })
    for (const origin of [FOREIGN, 'null', '*', `${ALLOWED}.evil.example`]) {
      const { status, headers } = await preflight(origin)
      assert.deepEqual([status, headers.get('access-control-allow-origin')], [204, null], origin)
      assert.equal(headers.get('access-control-allow-methods'), null)
    }
    assert.equal((await preflight(ALLOWED, '/api/nothing')).status, 204)
  })

  describe('in a browser', () => {
    let pages: Server
    let browser: Browser
    let page: Page
    before(async () => {
      pages = createServer((_request, response) =>
        response.setHeader('content-type', 'text/html').end('<title>Page</title>'),
      )
      await new Promise<void>(resolve => pages.listen(0, '127.0.0.1', resolve))
      browser = await launchBrowser()
      page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
    })
    after(async () => {
      await browser?.close()
      pages?.close()
    })

    const fetchInPage = (method: string, body?: object) =>
      page.evaluate(
        `fetch(${JSON.stringify(`${stack.urls[0]}/api/audience`)}, {
          method: ${JSON.stringify(method)},
          headers: { authorization: ${JSON.stringify(token)}, 'content-type': 'application/json' },
          ${body ? `body: ${JSON.stringify(JSON.stringify(body))},` : ''}
        }).then(answer => [answer.status, answer.headers.get('x-request-id') !== null], () => 'unreadable')`,
      )

    it('reach the API once the organization allows their origin', async () => {
      assert.equal(await fetchInPage('GET'), 'unreadable')
      await allow([new URL(page.url()).origin])
      assert.deepEqual(await fetchInPage('GET'), [200, true])
      assert.deepEqual(await fetchInPage('POST', { email: 'from.a.page@example.com' }), [201, true])
      assert.deepEqual(await fetchInPage('POST', { email: 'from.a.page@example.com' }), [409, true])
      await allow([])
      assert.equal(await fetchInPage('GET'), 'unreadable')
    })
  })
})
