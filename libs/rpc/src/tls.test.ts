import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { createLogger } from '@rollcall/runtime'
import {
  type Connection,
  connect,
  type RpcServer,
  readAssertionKeys,
  readTlsFolder,
  serve,
  serviceCaller,
  type Tls,
} from './index.ts'

const directory = mkdtempSync(join(tmpdir(), 'rpc-tls-'))
after(() => rmSync(directory, { recursive: true }))

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '2']

function makeAuthority(name: string): void {
  openssl('req', '-x509', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`)
}

/** A folder as mounted from a Secret, with a certificate of an authority for a host. */
function makeFolder(name: string, authority: string, host: string): string {
  const folder = join(directory, name)
  mkdirSync(folder)
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')]
  const signed = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`]
  openssl(
    'req',
    '-x509',
    ...newKey,
    ...signed,
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=DNS:${host}`,
    ...files,
  )
  copyFileSync(join(directory, `${authority}.crt`), join(folder, 'ca.crt'))
  return folder
}

const assertionKeys = readAssertionKeys(randomBytes(32).toString('base64'))
const caller = serviceCaller('test', 'a'.repeat(24))
const logger = createLogger({ service: 'tls-test', level: 'silent' })
const directoryService = {
  async findUsers() {
    return { users: [] }
  },
}

async function ask(connection: Connection): Promise<unknown> {
  try {
    return await connection.client('rollcall.identity.v1.Directory').findUsers({ ids: [] }, { caller })
  } finally {
    connection.close()
  }
}

/** What a server says first to a TLS client: the settings that open HTTP/2, or why it ends the connection. */
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

const skip = spawnSync('openssl', ['version']).error ? 'openssl is missing: it makes the certificates' : false

describe('mutual TLS', { skip }, () => {
  let server: RpcServer
  let ours: Tls

  before(async () => {
    makeAuthority('ours')
    makeAuthority('theirs')
    ours = readTlsFolder(makeFolder('service', 'ours', 'localhost'))
    const services = { 'rollcall.identity.v1.Directory': directoryService }
    server = await serve({ services, port: 0, host: '127.0.0.1', assertionKeys, logger, tls: ours })
  })
  after(() => server.stop())

  const to = (tls?: Tls) => connect({ address: `localhost:${server.port}`, assertionKeys, tls, deadlineMs: 2_000 })

  it('lets services of one authority talk', async () => {
    assert.deepEqual(await ask(to(ours)), { users: [] })
  })

  it('refuses a client without a certificate', async () => {
    await assert.rejects(ask(to()), { code: 'unavailable' })
    const ca = readFileSync(ours.caCertificateFile)
    const identity = { cert: readFileSync(ours.certificateFile), key: readFileSync(ours.privateKeyFile) }
    assert.equal(await greeting(server.port, { ca, ...identity }), 'http/2 settings')
    assert.match(await greeting(server.port, { ca }), /certificate required/)
  })

  it('refuses a client with a certificate of another authority', async () => {
    const stranger = readTlsFolder(makeFolder('stranger', 'theirs', 'localhost'))
    await assert.rejects(ask(to({ ...stranger, caCertificateFile: ours.caCertificateFile })), { code: 'unavailable' })
  })

  it('does not talk to a server whose certificate names another host', async () => {
    const other = readTlsFolder(makeFolder('other', 'ours', 'elsewhere.test'))
    const services = { 'rollcall.identity.v1.Directory': directoryService }
    const elsewhere = await serve({ services, port: 0, host: '127.0.0.1', assertionKeys, logger, tls: other })
    const connection = connect({ address: `localhost:${elsewhere.port}`, assertionKeys, tls: ours, deadlineMs: 2_000 })
    await assert.rejects(ask(connection), { code: 'unavailable' })
    await elsewhere.stop()
  })

  it('is refused at start where the files do not fit together', () => {
    const mixed = makeFolder('mixed', 'ours', 'localhost')
    copyFileSync(join(directory, 'theirs.key'), join(mixed, 'tls.key'))
    assert.throws(() => readTlsFolder(mixed))
    const torn = makeFolder('torn', 'ours', 'localhost')
    writeFileSync(join(torn, 'tls.crt'), 'no certificate')
    assert.throws(() => readTlsFolder(torn))
    assert.throws(() => readTlsFolder(join(directory, 'nowhere')))
  })
})
