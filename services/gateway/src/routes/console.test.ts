import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { bootGateway, type TestGateway } from '../../test/gateway.ts'

describe('the console', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-console-'))
  let gateway: TestGateway
  let plain: TestGateway

  before(async () => {
    mkdirSync(join(directory, 'assets'))
    writeFileSync(join(directory, 'index.html'), '<script nonce="__CSP_NONCE__"></script><style nonce="__CSP_NONCE__">')
    writeFileSync(join(directory, 'assets', 'index-abc123.js'), 'plain')
    writeFileSync(join(directory, 'assets', 'index-abc123.js.br'), 'brotli')
    gateway = await bootGateway({ CONSOLE_DIR: directory })
    plain = await bootGateway()
  })
  after(async () => {
    await gateway.stop()
    await plain.stop()
    rmSync(directory, { recursive: true })
  })

  const get = (path: string, init: RequestInit = {}) => fetch(gateway.url + path, { redirect: 'manual', ...init })

  it('is where the root leads', async () => {
    for (const path of ['/', '/console']) {
      const response = await get(path)
      assert.equal(response.status, 302)
      assert.equal(response.headers.get('location'), '/console/')
    }
  })

  it('answers every path that is no file with its index', async () => {
    for (const path of ['/console/', '/console/contacts?page=2', '/console/roles/v1.2', '/console/sign-in']) {
      const response = await get(path)
      assert.equal(response.status, 200, path)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response.headers.get('cache-control'), 'no-cache')
    }
    assert.equal((await get('/console/', { method: 'HEAD' })).status, 200)
  })

  it('has a new nonce in each answer, the same in its policy and its elements', async () => {
    const nonces = new Set<string>()
    for (let count = 0; count < 3; count++) {
      const response = await get('/console/')
      const policy = response.headers.get('content-security-policy') ?? ''
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
      assert.ok(nonce)
      assert.equal(
        policy,
        `default-src 'none';script-src 'self';style-src 'self' 'nonce-${nonce}';img-src 'self' data:;font-src 'self';` +
          `connect-src 'self';frame-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'`,
      )
      assert.equal(await response.text(), `<script nonce="${nonce}"></script><style nonce="${nonce}">`)
      nonces.add(nonce)
    }
    assert.equal(nonces.size, 3)
  })

  it('shows mails in a frame where nothing of them runs, and only the console can show it', async () => {
    const response = await get('/console/mail-frame.html')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
    assert.ok(nonce)
    assert.equal(
      policy,
      `default-src 'none';script-src 'nonce-${nonce}';style-src 'unsafe-inline';img-src data: https:;` +
        `form-action 'none';base-uri 'none';frame-ancestors 'self';sandbox allow-scripts`,
    )
    assert.ok((await response.text()).includes(`<script nonce="${nonce}">`))
    assert.equal((await get('/console/mail-frame.html', { method: 'POST' })).status, 404)
  })

  it('keeps other pages and origins away from it', async () => {
    const { headers } = await get('/console/')
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('permissions-policy') ?? '', /camera=\(\)/)
  })

  it('serves assets compressed, to be kept for a year', async () => {
    const response = await get('/console/assets/index-abc123.js', { headers: { 'Accept-Encoding': 'br' } })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-encoding'), 'br')
    assert.equal(response.headers.get('cache-control'), 'public,max-age=31536000,immutable')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    const uncompressed = await get('/console/assets/index-abc123.js', { headers: { 'Accept-Encoding': 'identity' } })
    assert.equal(await uncompressed.text(), 'plain')
  })

  it('does not answer for a missing file with a page, nor to another method', async () => {
    const paths = [
      'assets/',
      'assets/gone.js',
      'assets/gone',
      'assets/%2e%2e%2fpackage.json',
      'favicon.ico',
      'index.html',
    ]
    for (const path of paths) assert.equal((await get(`/console/${path}`)).status, 404, path)
    for (const method of ['POST', 'DELETE']) assert.equal((await get('/console/', { method })).status, 404)
  })

  it('costs no limit and needs no credential', async () => {
    assert.equal((await get('/console/')).headers.get('ratelimit-limit'), null)
  })

  it('does not exist without its folder', async () => {
    for (const path of ['/', '/console/', '/console/assets/index-abc123.js']) {
      assert.equal((await fetch(plain.url + path, { redirect: 'manual' })).status, 404)
    }
  })
})
