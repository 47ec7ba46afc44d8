import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Client, ConflictError, createClient } from '@rollcall/sdk'
import { openForUpload } from './files.ts'
import { Problem } from './problem.ts'
import { type Run, runUndo } from './run.ts'
import { saveErrors } from './save-errors.ts'

type Answer = (response: ServerResponse) => unknown
const json =
  (status: number, body: unknown): Answer =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const text =
  (body: string): Answer =>
  response =>
    response.end(body)
/** Starts a response and does not end it. */
const brokenOff: Answer = response => {
  response.writeHead(200, { 'content-length': 1000 }).write('email\r\nnot the wh')
  setTimeout(() => response.destroy(), 20)
}

describe('a run', () => {
  let server: Server
  let url: string
  let client: Client
  let folder: string
  let answers: Answer[]
  let asked: string[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rollcall-cli-'))
    server = createServer((request, response) => {
      asked.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`)
      request.resume().on('end', () => (answers.shift() ?? json(500, {}))(response))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    client = createClient({ baseUrl: url, token: 'token', maxRetries: 0 })
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

  it('finds the undo that was started already', async () => {
    let shown = ''
    const out = { write: (more: string) => (shown += more) }
    const run: Run = {
      client,
      url,
      out,
      log: out,
      confirm: async () => true,
      interrupted: new AbortController().signal,
    }
    const undo = () => runUndo(run, { kind: 'undo', jobId: 'j' })
    const result = {
      total: 1,
      removed: 1,
      updated: 0,
      unchanged: 0,
      skipped: 0,
      durationMs: 1,
      errors: [],
      preview: [],
    }
    const completed = json(200, { state: 'completed', progress: 100, result })
    const isUndone = json(409, { message: 'the import was already undone' })
    willAnswer(isUndone, json(200, { docs: [{ undoneBy: 'u' }] }), completed)
    assert.equal(await undo(), true)
    assert.match(shown, /^the import was already undone, by u\n/)
    assert.match(asked[1] ?? '', /^GET \/api\/audience\/import\/jobs\?filter=\{"_id":"j"\}/)
    assert.equal(asked[2], 'GET /api/audience/import/status/u')

    willAnswer(json(409, { message: 'the import has not finished' }), json(200, { docs: [{ undoneBy: null }] }))
    await assert.rejects(undo(), error => error instanceof ConflictError && /has not finished$/.test(error.message))
  })

  it('saves the whole error file or nothing, wherever it is to go', async () => {
    const into = await mkdtemp(join(folder, 'into-'))
    const save = (...names: string[]) => saveErrors(client, 'j', join(into, ...names), `${url}/errors`)
    await writeFile(join(into, 'old.csv'), 'old')
    willAnswer(brokenOff, brokenOff, brokenOff)
    await assert.rejects(save('old.csv'), refused(/was interrupted/))
    willAnswer(text('x'), text('x'))
    await assert.rejects(save(), refused(/cannot be written: EISDIR.*; the rows that failed are at http.*\/errors$/))
    await assert.rejects(save('absent', 'new.csv'), refused(/cannot be written: ENOENT/))
    assert.deepEqual(await readdir(into), ['old.csv'])
    assert.equal(await readFile(join(into, 'old.csv'), 'utf8'), 'old')
    willAnswer(brokenOff, text('email\r\na@\r\n'))
    await save('old.csv')
    assert.equal(await readFile(join(into, 'old.csv'), 'utf8'), 'email\r\na@\r\n')
    willAnswer(text('x'))
    await saveErrors(client, 'j', '/dev/null', url)
    assert.ok((await stat('/dev/null')).isCharacterDevice())
  })

  it('says which file it is that cannot be read', async () => {
    await assert.rejects(openForUpload(join(folder, 'absent')), refused(/absent is not a file that can be read$/))
    await assert.rejects(openForUpload(folder), refused(/is not a file that can be read$/))
  })

  it('says what is wrong with a disk', { skip: process.platform !== 'linux' }, async () => {
    willAnswer(text('x'), text('x'))
    const { file, broken } = await openForUpload('/proc/self/mem')
    const upload = client.imports.upload(file, { onProgress: () => undefined, signal: broken })
    await assert.rejects(upload, refused(/^\/proc\/self\/mem cannot be read: EIO/))
    await assert.rejects(saveErrors(client, 'j', '/dev/full', url), refused(/^\/dev\/full cannot be written: ENOSPC/))
  })
})
