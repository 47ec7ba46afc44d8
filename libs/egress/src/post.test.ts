import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { UnsafeHost } from './checked-host.ts'
import { createPoster, type Poster } from './post.ts'

const MAX_BODY_BYTES = 16 * 1024
const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
/** More than a request may take. */
const ENDS = { timeout: scaledTimeout(10_000) }

describe('a request to a server that a customer chose', () => {
  let server: Server
  let port: number
  let upgraded: Socket
  const seen: string[] = []
  let poster: Poster
  before(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.headers.host} ${request.url}`)
      if (request.url === '/redirect') return response.writeHead(302, { location: '/elsewhere' }).end()
      if (request.url === '/long') return void response.end(Buffer.alloc(1_000_000, 'x'))
      if (request.url === '/silent') return
      if (request.url === '/headers') return response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end()
      if (request.url === '/upgrade') {
        upgraded = request.socket
        return void upgraded.write(UPGRADE)
      }
      if (request.url === '/cut') return void request.socket.end('HTTP/1.1 200 OK\r\nx-answer: yes\r\n')
      if (request.url === '/informed') {
        response.writeContinue()
        response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      }
      request.pipe(response.writeHead(201, { 'x-answer': 'yes' }))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const timeoutMs = scaledTimeout(1_000)
    poster = createPoster({ policy: { allowPrivate: true, resolve }, timeoutMs, maxBodyBytes: MAX_BODY_BYTES })
  })
  after(() => {
    poster.close()
    server.closeAllConnections()
    server.close()
  })
  afterEach(() => seen.splice(0))

  const post = (path: string, host = 'receiver.test') =>
    poster.post({ url: new URL(`http://${host}:${port}${path}`), headers: { 'x-own': '1' }, body: Buffer.from('ü') })

  it('reaches the address that was checked, under the name of its URL', async () => {
    const { status, headers, body } = await post('/a?b=1')
    assert.deepEqual([status, headers['x-answer'], body], [201, 'yes', 'ü'])
    assert.deepEqual(seen, [`POST receiver.test:${port} /a?b=1`])
  })

  it('follows no redirect', async () => {
    const { status, headers } = await post('/redirect')
    assert.deepEqual([status, headers.location], [302, '/elsewhere'])
    assert.equal(seen.length, 1)
  })

  it('reads the start of a long body', async () => assert.equal((await post('/long')).body.length, MAX_BODY_BYTES))

  it('ends at its timeout', () => assert.rejects(post('/silent'), { name: 'TimeoutError' }))

  it('ends with the status of a server that switches protocols, and closes the connection', ENDS, async () => {
    const { status, headers, body } = await post('/upgrade')
    assert.deepEqual([status, headers.upgrade, body], [101, 'x', ''])
    if (!upgraded.destroyed) await once(upgraded, 'close')
  })

  it('skips informational answers', async () => assert.equal((await post('/informed')).status, 201))

  it('fails if the connection ends in the head', ENDS, () => assert.rejects(post('/cut'), { code: 'ECONNRESET' }))

  it('refuses a head that is too long', () => assert.rejects(post('/headers'), { code: 'HPE_HEADER_OVERFLOW' }))

  it('ends when the caller cancels it', async () => {
    const url = new URL(`http://receiver.test:${port}/silent`)
    const signal = AbortSignal.timeout(50)
    const cancelled = poster.post({ url, headers: {}, body: Buffer.alloc(0), signal })
    await assert.rejects(cancelled, error => error === signal.reason)
  })

  it('goes through a proxy, which resolves the name, if there is one', async () => {
    const proxied: string[] = []
    const proxy = createServer((request, response) => {
      proxied.push(`${request.method} ${request.url}`)
      request.pipe(response.writeHead(201))
    })
    proxy.on('connect', ({ method, url }, socket) => {
      proxied.push(`${method} ${url}`)
      socket.end('HTTP/1.1 407 Denied\r\n\r\n')
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const resolve = async () => Promise.reject(new Error('ENOTFOUND'))
    const { port } = proxy.address() as AddressInfo
    const through = createPoster({
      policy: { allowPrivate: false, resolve },
      timeoutMs: scaledTimeout(5_000),
      maxBodyBytes: MAX_BODY_BYTES,
      proxy: `http://127.0.0.1:${port}`,
    })
    const postTo = (url: string) => through.post({ url: new URL(url), headers: {}, body: Buffer.from('ü') })
    assert.equal((await postTo('http://receiver.test/a')).body, 'ü')
    await assert.rejects(postTo('https://receiver.test/a'), { code: 'ERR_PROXY_TUNNEL' })
    for (const url of ['https://10.0.0.1/', 'https://localhost/']) await assert.rejects(postTo(url), UnsafeHost)
    assert.deepEqual(proxied, ['POST http://receiver.test/a', 'CONNECT receiver.test:443'])
    through.close()
    proxy.closeAllConnections()
    proxy.close()
  })

  it('closes the tunnel of a proxy or server that refuses it, or is silent', ENDS, async () => {
    const closed: Promise<void>[] = []
    const proxy = createServer().on('connect', ({ url }, socket) => {
      closed.push(new Promise(resolve => socket.once('close', resolve)))
      socket.on('end', () => socket.end()).on('error', () => undefined)
      socket.resume()
      if (url === 'refused.test:443') socket.write('HTTP/1.1 407 Denied\r\ncontent-length: 2\r\n\r\nno')
      if (url === 'switched.test:443') socket.write(UPGRADE)
      if (url === 'server.test:443') socket.write('HTTP/1.1 200 OK\r\n\r\n')
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const through = createPoster({
      policy: { allowPrivate: false, resolve: async () => [{ address: '8.8.8.8', family: 4 }] },
      timeoutMs: scaledTimeout(1_000),
      maxBodyBytes: MAX_BODY_BYTES,
      proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    })
    const postTo = (host: string) =>
      through.post({ url: new URL(`https://${host}`), headers: {}, body: Buffer.from('ü') })
    for (const host of ['refused.test', 'switched.test'])
      await assert.rejects(postTo(host), { code: 'ERR_PROXY_TUNNEL' }, host)
    for (const host of ['server.test', 'proxy.test']) await assert.rejects(postTo(host), { name: 'TimeoutError' }, host)
    assert.equal((await Promise.all(closed)).length, 4)
    through.close()
    proxy.close()
  })

  it('never connects to a special address, literal or by name', async () => {
    const resolve = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const guarded = createPoster({ policy: { allowPrivate: false, resolve }, timeoutMs: 5_000, maxBodyBytes: 1 })
    for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', 'receiver.test']) {
      const url = new URL(`http://${host}:${port}/a`)
      await assert.rejects(guarded.post({ url, headers: {}, body: Buffer.alloc(0) }), UnsafeHost, host)
    }
    assert.deepEqual(seen, [])
    guarded.close()
  })
})
