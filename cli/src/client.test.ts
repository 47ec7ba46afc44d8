import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient } from './client.ts'
import { Problem } from './problem.ts'

const HTML = '<html>\n<h1>Bad gateway</h1>\n</html>'
const never = new AbortController().signal

type Answer = (response: ServerResponse) => unknown
const json =
  (status: number, body: unknown): Answer =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const text =
  (status: number, body: string): Answer =>
  response =>
    response.writeHead(status).end(body)
/** Processes the request and closes the connection before the response. */
const lost: Answer = response => response.destroy()
/** Starts a response and does not end it. */
const brokenOff: Answer = response => {
  response.writeHead(200, { 'content-length': 1000 }).write('{"jobId":"not the wh')
  setTimeout(() => response.destroy(), 20)
}
/** Temporary responses while a gateway restarts behind an ingress, or is overloaded. */
const passing: Answer[] = [lost, brokenOff, text(502, HTML), text(504, HTML), json(503, {}), json(429, {})]

describe('the client of a gateway', () => {
  let server: Server
  let client: Client
  let impatient: Client
  let folder: string
  let answers: Answer[]
  let asked: string[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rollcall-client-'))
    server = createServer((request, response) => {
      asked.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`)
      request.resume().on('end', () => (answers.shift() ?? text(500, 'nothing is left to say'))(response))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    client = createClient(`http://127.0.0.1:${port}`, 'token', { timeoutMs: 60_000, retryMs: 1 })
    impatient = createClient(`http://127.0.0.1:${port}`, 'token', { timeoutMs: 50, retryMs: 1 })
  })
  after(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  const willAnswer = (...given: Answer[]) => {
    answers = given
    asked = []
  }
  const refused = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof Problem, String(error))
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /\n/)
    return true
  }

  it('retries idempotent requests while the gateway is down', async () => {
    willAnswer(...passing, json(200, { jobId: 'j' }))
    assert.equal(await client.start({ importId: 'i' }), 'j')
    willAnswer(...passing, json(200, { state: 'active' }))
    assert.equal((await client.status('j')).state, 'active')
    willAnswer(...passing, json(200, { success: true }))
    await client.cancel('j')
    willAnswer(...passing, text(200, 'email\r\na@\r\n'))
    await client.saveErrors('/errors', join(folder, 'whole.csv'))
    assert.equal(await readFile(join(folder, 'whole.csv'), 'utf8'), 'email\r\na@\r\n')
  })

  it('gives up after the timeout, with the reason in one line', async () => {
    willAnswer(...Array<Answer>(2_000).fill(text(502, HTML)))
    await assert.rejects(impatient.start({}), refused(/^http:\/\/\S+ answers 502 Bad Gateway$/))
  })

  it('takes a refusal for one at once', async () => {
    willAnswer(json(400, { message: 'mapping must include email and name' }))
    await assert.rejects(client.start({}), refused(/^mapping must include email and name$/))
    willAnswer(text(200, HTML))
    await assert.rejects(client.start({}), refused(/^the response of http:\/\/\S+ is not JSON$/))
    assert.equal(asked.length, 1)
  })

  it('finds the undo that was started already, should its answer have been lost', async () => {
    const isUndone = json(409, { message: 'the import was already undone' })
    willAnswer(lost, isUndone, json(200, { docs: [{ undoneBy: 'u' }] }))
    assert.deepEqual(await client.undo('j'), { jobId: 'u', isNew: false })
    assert.match(asked.at(-1)!, /^GET \/api\/audience\/import\/jobs\?filter=\{"_id":"j"\}/)
    willAnswer(json(200, { jobId: 'u' }))
    assert.deepEqual(await client.undo('j'), { jobId: 'u', isNew: true })
    willAnswer(json(409, { message: 'the import has not finished' }), json(200, { docs: [{ undoneBy: null }] }))
    await assert.rejects(client.undo('j'), refused(/^the import has not finished$/))
  })

  it('saves the whole error file or nothing, wherever it is to go', async () => {
    const into = await mkdtemp(join(folder, 'into-'))
    const save = (...names: string[]) => impatient.saveErrors('/errors', join(into, ...names))
    await writeFile(join(into, 'old.csv'), 'old')
    willAnswer(...Array<Answer>(200).fill(brokenOff))
    await assert.rejects(save('old.csv'), refused(/was interrupted/))
    await assert.rejects(save(), refused(/cannot be written: EISDIR.*; the rows that failed are at http.*\/errors$/))
    await assert.rejects(save('absent', 'new.csv'), refused(/cannot be written: ENOENT/))
    assert.deepEqual(await readdir(into), ['old.csv'])
    assert.equal(await readFile(join(into, 'old.csv'), 'utf8'), 'old')
    willAnswer(text(200, 'x'))
    await client.saveErrors('/errors', '/dev/null')
    assert.ok((await stat('/dev/null')).isCharacterDevice())
  })

  it('says which file it is that cannot be read', async () => {
    willAnswer(text(200, 'x'))
    const upload = (file: string) => client.upload(file, () => undefined, never)
    await assert.rejects(upload(join(folder, 'absent')), refused(/absent is not a file that can be read$/))
    await assert.rejects(upload(folder), refused(/is not a file that can be read$/))
  })

  it('says what is wrong with a disk', { skip: process.platform !== 'linux' }, async () => {
    willAnswer(text(200, 'x'), text(200, 'x'))
    const upload = client.upload('/proc/self/mem', () => undefined, never)
    await assert.rejects(upload, refused(/^\/proc\/self\/mem cannot be read: EIO/))
    await assert.rejects(client.saveErrors('/errors', '/dev/full'), refused(/^\/dev\/full cannot be written: ENOSPC/))
  })
})
