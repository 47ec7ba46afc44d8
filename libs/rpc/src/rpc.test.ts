import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError, type HttpBody, json } from '@rollcall/contract'
import { createLifecycle, createLogger, pause } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { z } from 'zod'
import { KEEPALIVE_MS } from './client.ts'
import {
  type Caller,
  type Connection,
  connect,
  newKeySettings,
  type RpcServer,
  readTrust,
  rpcServerConfig,
  serve,
  serveWithin,
  serviceCaller,
} from './index.ts'

const keys = newKeySettings(['gateway', 'import'])
const trust = readTrust(keys.gateway)
const strangers = readTrust(newKeySettings(['gateway']).gateway)
const logger = createLogger({ service: 'rpc-test', level: 'silent' })
const caller: Caller = { ...serviceCaller('test', 'a'.repeat(24)), kind: 'session', userId: 'b'.repeat(24) }

function unexpected(): never {
  throw new Error('not part of this test')
}

const contacts = {
  async *listContacts(): AsyncGenerator<HttpBody> {
    for (let index = 0; index < 500; index++)
      yield { contentType: 'text/plain', data: Buffer.alloc(10_000, index % 250) }
  },
  async *exportContacts(): AsyncGenerator<HttpBody> {
    yield json({ first: true })
    throw new AppError('import.undone')
  },
  async getContact({ id }: { id: string }): Promise<HttpBody> {
    if (id === 'unknown') throw new AppError('contact.not_found')
    if (id === 'long') throw new AppError('request.extra_field', { path: 'a'.repeat(100_000) })
    if (id === 'slow') await pause(KEEPALIVE_MS + 1_000)
    if (id === 'hang') await new Promise(() => undefined)
    if (id === 'bug') throw new TypeError('secret internals')
    return json({ id })
  },
  getImportSample: unexpected,
  countTags: unexpected,
  getGrowth: unexpected,
  createContact: unexpected,
  updateContact: unexpected,
  updateAttributes: unexpected,
  replaceTags: async () => ({ success: true, message: 'updated' }),
  blockContact: unexpected,
  unblockContact: unexpected,
  linkUser: unexpected,
  deleteContact: unexpected,
  listTimeline: unexpected,
  listActivities: unexpected,
  listAttributesHistory: unexpected,
  listContactLists: unexpected,
  listEmails: unexpected,
  downloadContactData: unexpected,
  eraseContact: unexpected,
}

let wholeUploads = 0
const imports = {
  async uploadImport(chunks: AsyncIterable<{ chunk: Buffer }>): Promise<HttpBody> {
    let bytes = 0
    for await (const { chunk } of chunks) {
      bytes += chunk.length
      if (bytes > 5_000_000) throw new AppError('file.binary', { reason: 'too much' })
    }
    wholeUploads++
    return json({ bytes })
  },
  startImport: unexpected,
  getImportStatus: unexpected,
  listImportJobs: unexpected,
  downloadImportErrors: unexpected,
  cancelImport: unexpected,
  undoImport: unexpected,
}

describe('rpc', () => {
  let server: RpcServer
  let connection: Connection

  before(async () => {
    const services = { 'rollcall.audience.v1.Contacts': contacts, 'rollcall.import.v1.Imports': imports }
    server = await serve({ services, port: 0, host: '127.0.0.1', trust, logger })
    connection = connect({ address: `127.0.0.1:${server.port}`, trust, deadlineMs: 2000 })
  })
  after(async () => {
    connection.close()
    await server.stop()
  })

  const client = () => connection.client('rollcall.audience.v1.Contacts')
  const upload = () => connection.client('rollcall.import.v1.Imports').uploadImport
  async function* file(chunks: number, failAt = -1) {
    for (let index = 0; index < chunks; index++) {
      if (index === failAt) throw new AppError('upload.too_slow')
      yield { chunk: Buffer.alloc(100_000) }
    }
  }

  it('answers a unary call', async () => {
    const { data } = await client().getContact({ id: 'x' }, { caller })
    assert.deepEqual(JSON.parse(data.toString()), { id: 'x' })
  })

  it('carries a declared refusal whole', async () => {
    const expected = { code: 'contact.not_found', message: 'contact not found', status: 404 }
    await assert.rejects(client().getContact({ id: 'unknown' }, { caller }), expected)
  })

  it('carries a refusal that names a long field', async () => {
    const expected = { code: 'request.extra_field', status: 400, path: `${'a'.repeat(1024)}…` }
    await assert.rejects(client().getContact({ id: 'long' }, { caller }), expected)
  })

  it('exposes nothing of a bug', async () => {
    const error = await client()
      .getContact({ id: 'bug' }, { caller })
      .catch((e: AppError) => e)
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'service.unavailable')
    assert.doesNotMatch(JSON.stringify([error.details, error.message, error.body]), /secret/)
  })

  it('finishes a call on a connection that has grown too old, past the next keepalive', async () => {
    const services = { 'rollcall.audience.v1.Contacts': contacts }
    const aging = await serve({ services, port: 0, host: '127.0.0.1', trust, logger, maxConnectionAgeMs: 500 })
    const old = connect({ address: `127.0.0.1:${aging.port}`, trust, deadlineMs: 60_000 })
    const { data } = await old.client('rollcall.audience.v1.Contacts').getContact({ id: 'slow' }, { caller })
    assert.deepEqual(JSON.parse(data.toString()), { id: 'slow' })
    old.close()
    await aging.stop()
  })

  it('cuts a stream that nobody reads to its end, and then stops what is behind the server', async () => {
    const lifecycle = createLifecycle({ service: 'rpc-test', logger, graceMs: scaledTimeout(1_000) })
    let isStored = false
    lifecycle.onStop('store', async () => {
      isStored = true
    })
    const config = { ...z.object(rpcServerConfig).parse(keys.gateway), LISTEN_HOST: '127.0.0.1' }
    const { port } = await serveWithin(lifecycle, config, { 'rollcall.audience.v1.Contacts': contacts })
    const slow = connect({ address: `127.0.0.1:${port}`, trust, deadlineMs: scaledTimeout(60_000) })
    const stream = slow.client('rollcall.audience.v1.Contacts').listContacts({}, { caller })[Symbol.asyncIterator]()
    await stream.next()
    assert.equal(await lifecycle.stop('test'), 'clean')
    assert.ok(isStored)
    const readRest = async () => {
      while (!(await stream.next()).done);
    }
    await assert.rejects(readRest, { code: 'service.unavailable' })
    slow.close()
  })

  it('ends a call at its deadline', async () => {
    const startedAt = Date.now()
    await assert.rejects(client().getContact({ id: 'hang' }, { caller }), { code: 'service.unavailable' })
    assert.ok(Date.now() - startedAt < 5_000)
  })

  it('streams many messages in order, at the pace of the reader', async () => {
    let count = 0
    for await (const { data } of client().listContacts({}, { caller })) assert.equal(data[0], count++ % 250)
    assert.equal(count, 500)
  })

  it('fails from the iteration when a stream breaks', async () => {
    const seen: string[] = []
    await assert.rejects(
      async () => {
        for await (const { data } of client().exportContacts({}, { caller })) seen.push(data.toString())
      },
      { code: 'import.undone', message: 'the import was already undone' },
    )
    assert.deepEqual(seen, ['{"first":true}'])
  })

  it('takes a stream of requests', async () => {
    const { data } = await upload()(file(20), { caller })
    assert.deepEqual(JSON.parse(data.toString()), { bytes: 2_000_000 })
  })

  it('stops sending when the server has answered', async () => {
    await assert.rejects(upload()(file(100_000), { caller }), { code: 'file.binary', message: 'too much' })
  })

  it('answers with the error of the source', async () => {
    await assert.rejects(upload()(file(10, 3), { caller }), { code: 'upload.too_slow' })
  })

  it('takes no stream for whole that was cancelled, however far it came', async () => {
    wholeUploads = 0
    for (let chunks = 0; chunks < 40; chunks++) {
      const leave = new AbortController()
      const endless = async function* () {
        yield* file(chunks % 8)
        setTimeout(() => leave.abort(), chunks % 5)
        await new Promise(() => undefined)
      }
      await assert.rejects(upload()(endless(), { caller, signal: leave.signal }), { code: 'service.unavailable' })
    }
    const { data } = await upload()(file(0), { caller })
    assert.deepEqual(JSON.parse(data.toString()), { bytes: 0 })
    assert.equal(wholeUploads, 1)
  })

  it('refuses a caller without the permission, and changes under impersonation', async () => {
    const reader: Caller = { ...caller, permissions: ['audience.read'] }
    await client().getContact({ id: 'x' }, { caller: reader })
    const tags = { id: 'x', tags: [] }
    await assert.rejects(client().replaceTags(tags, { caller: reader }), {
      code: 'access.permission_denied',
      message: 'Permission denied: audience.update',
    })
    await assert.rejects(client().replaceTags(tags, { caller: { ...caller, readOnly: true } }), {
      code: 'access.read_only',
    })
  })

  it('refuses an assertion that is forged', async () => {
    const stranger = connect({ address: `127.0.0.1:${server.port}`, trust: strangers })
    const call = stranger.client('rollcall.audience.v1.Contacts').getContact({ id: 'x' }, { caller })
    await assert.rejects(call, { code: 'caller.unverified' })
    stranger.close()
  })

  it('refuses what a service signs that has no business here', async () => {
    const stranger = connect({ address: `127.0.0.1:${server.port}`, trust: readTrust(keys.import) })
    const call = stranger.client('rollcall.audience.v1.Contacts').getContact({ id: 'x' }, { caller })
    await assert.rejects(call, {
      code: 'caller.issuer_denied',
      message: 'The service import may not call this for a session.',
    })
    stranger.close()
  })

  it('is unavailable when nobody listens', async () => {
    const nowhere = connect({ address: '127.0.0.1:1', trust, deadlineMs: 200 })
    await assert.rejects(nowhere.client('rollcall.audience.v1.Contacts').getContact({ id: 'x' }, { caller }), {
      code: 'service.unavailable',
    })
    nowhere.close()
  })
})
