import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { createLogger } from '@rollcall/runtime'
import { makeAuthority, withoutCertificates } from '@rollcall/testing/certificates'
import {
  type Connection,
  connect,
  newKeySettings,
  type RpcServer,
  readTrust,
  serve,
  serviceCaller,
  type Tls,
} from './index.ts'
import { readTlsFolder } from './tls.ts'

const directory = mkdtempSync(join(tmpdir(), 'rpc-tls-'))
after(() => rmSync(directory, { recursive: true }))

const keys = newKeySettings(['audience', 'messaging', 'identity'])
const trust = readTrust(keys.identity)
const logger = createLogger({ service: 'tls-test', level: 'silent' })
const directoryService = {
  async findUsers() {
    return { users: [] }
  },
}

async function ask(connection: Connection, service = 'audience'): Promise<unknown> {
  const caller = serviceCaller(service, 'a'.repeat(24))
  try {
    return await connection.client('rollcall.identity.v1.Directory').findUsers({ ids: [] }, { caller })
  } finally {
    connection.close()
  }
}

/** Returns what a server sends first to a TLS client: the HTTP/2 settings, or the reason of closing. */
function greeting(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise(resolve => {
    const socket = connectTls({ host: 'localhost', port, ALPNProtocols: ['h2'], ...options })
    const end = (what: string) => {
      socket.destroy()
      resolve(what)
    }
    socket.once('data', () => end('http/2 settings'))
    socket.once('error', error => end(error.message))
    socket.once('close', () => end('closed'))
  })
}

describe('mutual TLS', { skip: withoutCertificates() }, () => {
  let server: RpcServer
  let ours: Tls
  let authority: ReturnType<typeof makeAuthority>
  const issue = (name: string, host = 'DNS:localhost') => authority.issue(name, host, 'audience')

  before(async () => {
    authority = makeAuthority(directory, 'ours')
    ours = readTlsFolder(issue('service'))
    const services = { 'rollcall.identity.v1.Directory': directoryService }
    server = await serve({ services, port: 0, host: '127.0.0.1', trust, logger, tls: ours })
  })
  after(() => server.stop())

  const to = (tls?: Tls, as: 'audience' | 'messaging' = 'audience') =>
    connect({ address: `localhost:${server.port}`, trust: readTrust(keys[as]), tls, deadlineMs: 2_000 })

  it('lets services of one authority talk', async () => {
    assert.deepEqual(await ask(to(ours)), { users: [] })
  })

  it('refuses a service whose certificate names another one, whatever it signs with', async () => {
    await assert.rejects(ask(to(ours, 'messaging'), 'messaging'), { code: 'caller.unverified' })
    const theirs = readTlsFolder(authority.issue('messaging', 'DNS:localhost', 'messaging'))
    assert.deepEqual(await ask(to(theirs, 'messaging'), 'messaging'), { users: [] })
  })

  it('refuses a client without a certificate', async () => {
    await assert.rejects(ask(to()), { code: 'service.unavailable' })
    const ca = readFileSync(ours.caCertificateFile)
    const identity = { cert: readFileSync(ours.certificateFile), key: readFileSync(ours.privateKeyFile) }
    assert.equal(await greeting(server.port, { ca, ...identity }), 'http/2 settings')
    assert.match(await greeting(server.port, { ca }), /certificate required/)
  })

  it('refuses a client with a certificate of another authority', async () => {
    const stranger = readTlsFolder(makeAuthority(directory, 'theirs').issue('stranger', 'DNS:localhost'))
    await assert.rejects(ask(to({ ...stranger, caCertificateFile: ours.caCertificateFile })), {
      code: 'service.unavailable',
    })
  })

  it('does not talk to a server whose certificate names another host', async () => {
    const other = readTlsFolder(issue('other', 'DNS:elsewhere.test'))
    const services = { 'rollcall.identity.v1.Directory': directoryService }
    const elsewhere = await serve({ services, port: 0, host: '127.0.0.1', trust, logger, tls: other })
    const connection = connect({
      address: `localhost:${elsewhere.port}`,
      trust: readTrust(keys.audience),
      tls: ours,
      deadlineMs: 2_000,
    })
    await assert.rejects(ask(connection), { code: 'service.unavailable' })
    await elsewhere.stop()
  })

  it('is refused at start where the files do not fit together', () => {
    const mixed = issue('mixed')
    copyFileSync(join(directory, 'ours.key'), join(mixed, 'tls.key'))
    assert.throws(() => readTlsFolder(mixed))
    const torn = issue('torn')
    writeFileSync(join(torn, 'tls.crt'), 'no certificate')
    assert.throws(() => readTlsFolder(torn))
    assert.throws(() => readTlsFolder(join(directory, 'nowhere')))
  })
})
