import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { PassThrough } from 'node:stream'
import { json as jsonOf } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import fc from 'fast-check'
import { bootGateway, issueToken, type TestGateway } from '../../test/gateway.ts'
import type { Exchange } from '../exchange.ts'
import { type FileChunk, receiveFile } from './upload.ts'

const MAX_BYTES = 5 * 2 ** 20
const PATH = '/api/audience/import/upload'
const BEGUN = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

describe('an upload', () => {
  let gateway: TestGateway
  let token: string
  before(async () => {
    gateway = await bootGateway({ UPLOAD_MAX_BYTES: String(MAX_BYTES) })
    token = issueToken(gateway.services)
  })
  after(() => gateway.stop())
  beforeEach(() => {
    gateway.services.calls.length = 0
    gateway.services.behaviours.set('uploadImport', digest)
  })

  const upload = async (form: FormData) => {
    const response = await fetch(gateway.url + PATH, { method: 'POST', headers: { Authorization: token }, body: form })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const formOf = (...parts: [name: string, content: string | Buffer, fileName?: string][]) => {
    const form = new FormData()
    for (const [name, content, fileName] of parts) {
      if (fileName === undefined) form.append(name, content.toString())
      else form.append(name, new Blob([new Uint8Array(Buffer.from(content))]), fileName)
    }
    return form
  }
  /** Sends a raw body. */
  const post = (body: string | Buffer, contentType: string) =>
    new Promise<{ status: number }>((resolve, reject) => {
      const headers = { Authorization: token, 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }
      const request = httpRequest(gateway.url + PATH, { method: 'POST', headers })
      request.on('error', reject).on('response', async response => {
        resolve({ status: response.statusCode!, ...((await jsonOf(response)) as object) })
      })
      request.end(body)
    })

  it('reaches the service byte by byte, with its name', async () => {
    for (const size of [0, 1, 70_000, 3 * 2 ** 20]) {
      const content = randomBytes(size)
      const sha = createHash('sha256').update(content).digest('hex')
      const answer = await upload(formOf(['file', content, 'contacts ü.csv']))
      assert.deepEqual(answer, { status: 200, fileName: 'contacts ü.csv', bytes: size, sha })
    }
  })

  it('is not awaited from a client that has left', { timeout: scaledTimeout(5_000) }, async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const exchange = {
      request: Object.assign(new PassThrough(), { headers }),
      signal: AbortSignal.abort(),
      bounds: { watch: { add: () => () => {} } },
      atEnd: () => {},
    }
    await assert.rejects(receiveFile(exchange as unknown as Exchange, MAX_BYTES), { code: 'service.unavailable' })
  })

  it('may be as large as the limit, and not a byte more', async () => {
    assert.equal((await upload(formOf(['file', Buffer.alloc(MAX_BYTES - 1), 'a.csv']))).status, 200)
    assert.deepEqual(await upload(formOf(['file', Buffer.alloc(MAX_BYTES + 1), 'a.csv'])), {
      status: 400,
      error: true,
      message: 'file is larger than 5 MiB',
      path: 'file',
    })
  })

  const missing = { status: 400, error: true, message: 'missing field -> file', path: 'file' }
  const extra = (name: string) => ({ status: 400, error: true, message: `extra field -> ${name}`, path: name })
  const refusals: [what: string, form: () => FormData, answer: object][] = [
    ['no part', () => formOf(['other', 'text']), missing],
    ['a file under another name', () => formOf(['csv', 'email', 'a.csv']), missing],
    [
      'a text in its place',
      () => formOf(['file', 'email']),
      { status: 400, error: true, message: 'invalid field -> file: must be a file', path: 'file' },
    ],
    ['a second file', () => formOf(['file', 'a', 'a.csv'], ['file', 'b', 'b.csv']), extra('file')],
    ['another field before it', () => formOf(['mapping', '{}'], ['file', 'a', 'a.csv']), extra('mapping')],
    ['another field after it', () => formOf(['file', 'a', 'a.csv'], ['mapping', '{}']), extra('mapping')],
    [
      'a large field after a large file',
      () => formOf(['file', Buffer.alloc(2 ** 20), 'a.csv'], ['x', 'y'.repeat(2 ** 20)]),
      extra('x'),
    ],
  ]
  for (const [what, form, answer] of refusals) {
    it(`is refused with ${what}, and the service never gets a whole file`, async () => {
      let isWhole = false
      gateway.services.behaviours.set('uploadImport', async (chunks: never, call: Call) => {
        await digest(chunks, call)
        isWhole = true
        return json({})
      })
      assert.deepEqual(await upload(form()), answer)
      assert.equal(isWhole, false)
    })
  }

  it('is refused if it is not a form, or an incomplete one', async () => {
    const wrongType = { status: 400, error: true, message: 'content type must be multipart/form-data' }
    assert.deepEqual(await post('{}', 'application/json'), wrongType)
    assert.deepEqual(await post('a=b', 'application/x-www-form-urlencoded'), wrongType)
    const malformed = { status: 400, error: true, message: 'malformed multipart body' }
    assert.deepEqual(await post('', 'multipart/form-data; boundary='), malformed)
    assert.deepEqual(await post('', 'multipart/form-data; boundary=x'), malformed)
    assert.deepEqual(await post(`${BEGUN}email`, 'multipart/form-data; boundary=x'), malformed)
  })

  it('passes on the answer of a service that answers early', async () => {
    gateway.services.behaviours.set('uploadImport', async (chunks: never) => {
      for await (const _ of chunks as AsyncIterable<FileChunk>)
        throw new AppError('file.binary', { reason: 'binary file' })
    })
    const headers = { Authorization: token, 'Content-Type': 'multipart/form-data; boundary=x' }
    const request = httpRequest(gateway.url + PATH, { method: 'POST', headers })
    const finished = once(request, 'finish')
    const [answer] = await Promise.all([
      once(request, 'response').then(([response]) => jsonOf(response)),
      request.end(`${BEGUN}${'a'.repeat(30 * 2 ** 20)}\r\n--x--\r\n`),
    ])
    assert.deepEqual(answer, { error: true, message: 'binary file', path: 'file' })
    await finished // The rest of the form is still read and discarded. Else the client might miss the answer.
  })

  it('is cancelled when the client leaves', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('uploadImport', async (chunks: never, { signal }: Call) => {
      signal.addEventListener('abort', () => resolve('cancelled'))
      for await (const _ of chunks as AsyncIterable<FileChunk>) arrive()
      resolve('whole')
    })
    const headers = { Authorization: token, 'Content-Type': 'multipart/form-data; boundary=x' }
    const request = httpRequest(gateway.url + PATH, { method: 'POST', headers }).on('error', () => {})
    request.write(BEGUN + 'a'.repeat(100_000))
    await arrived
    request.destroy()
    assert.equal(await ended, 'cancelled')
  })

  it('is not read faster than the service reads it', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('uploadImport', async (chunks: never, call: Call) => {
      await released
      return digest(chunks, call)
    })
    const roomy = await bootGateway({}, gateway.services)
    const headers = { Authorization: token, 'Content-Type': 'multipart/form-data; boundary=x' }
    const request = httpRequest(roomy.url + PATH, { method: 'POST', headers })
    const answer = new Promise<number>(resolve => request.on('response', response => resolve(response.statusCode!)))
    request.write(BEGUN)
    const chunk = Buffer.alloc(256 * 1024)
    let isTaken = true
    let written = 0
    // The buffers of the system take some megabytes before the client has to wait.
    for (; isTaken && written < 64 * 2 ** 20; written += chunk.length) {
      isTaken = request.write(chunk) || (await drainedWithin(request, 1_000))
    }
    assert.equal(isTaken, false, `${written} bytes were taken from a client while the service took none`)
    release()
    request.end('\r\n--x--\r\n')
    assert.equal(await answer, 200)
    await roomy.lifecycle.stop('test is over')
  })

  it('answers 200 or 400 to any form', async () => {
    const name = fc.oneof(fc.constant('file'), fc.string({ maxLength: 10 }))
    const part = fc.record({
      name,
      fileName: fc.option(fc.string({ maxLength: 10 })),
      content: fc.string({ maxLength: 40 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.boolean(), async (parts, isClosed) => {
        const texts = parts.map(({ name, fileName, content }) => {
          const more = fileName === null ? '' : `; filename="${fileName}"`
          return `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
        })
        const { status } = await post(texts.join('') + (isClosed ? '--x--\r\n' : ''), 'multipart/form-data; boundary=x')
        assert.ok(status === 200 || status === 400, String(status))
      }),
      { numRuns: 100 },
    )
  })
})

async function digest(chunks: unknown, _call: Call) {
  const hash = createHash('sha256')
  let fileName: string | undefined
  let bytes = 0
  for await (const message of chunks as AsyncIterable<FileChunk>) {
    fileName ??= message.fileName
    bytes += message.chunk.length
    hash.update(message.chunk)
  }
  return json({ fileName, bytes, sha: hash.digest('hex') })
}

function drainedWithin(request: NodeJS.EventEmitter, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    request.once('drain', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
