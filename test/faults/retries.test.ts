import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { json } from '@rollcall/contract'
import { LOCALHOST } from '@rollcall/local'
import {
  type Connection,
  connect,
  type Handlers,
  newKeySettings,
  type RpcServer,
  readTrust,
  serve,
  serviceCaller,
} from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { type Link, linkTo } from '@rollcall/testing/link'

const trust = readTrust(newKeySettings(['gateway']).gateway)
const caller = { ...serviceCaller('test', 'a'.repeat(24)), kind: 'session' as const }

describe('a call whose connection breaks', () => {
  let server: RpcServer
  let link: Link
  let connection: Connection
  let calls: string[] = []

  /** Answers from the second call on; at the first, the connection breaks before the answer. */
  const breaking = async (method: string) => {
    calls.push(method)
    if (calls.length === 1) {
      link.become('cut')
      link.become('open')
    }
    return json({ method })
  }

  before(async () => {
    const handlers: object = new Proxy({}, { get: (_, method: string) => () => breaking(method) })
    const services = { 'rollcall.audience.v1.Contacts': handlers as Handlers<'rollcall.audience.v1.Contacts'> }
    const logger = createLogger({ service: 'test', level: 'silent' })
    server = await serve({ services, port: 0, host: LOCALHOST, trust, logger })
    link = await linkTo(`${LOCALHOST}:${server.port}`)
    connection = connect({ address: link.url, trust, deadlineMs: 5000 })
  })
  after(async () => {
    connection.close()
    await server.stop()
    await link.stop()
  })
  beforeEach(() => {
    calls = []
  })

  const client = () => connection.client('rollcall.audience.v1.Contacts')

  it('is retried if it reads', async () => {
    const { data } = await client().getContact({ id: 'x' }, { caller })
    assert.deepEqual(JSON.parse(data.toString()), { method: 'getContact' })
    assert.deepEqual(calls, ['getContact', 'getContact'])
  })

  it('is retried if it reads a stream that has not started', async () => {
    const chunks = []
    for await (const { data } of client().listContacts({}, { caller })) chunks.push(data.toString())
    assert.deepEqual(chunks, ['{"method":"listContacts"}'])
    assert.deepEqual(calls, ['listContacts', 'listContacts'])
  })

  it('is not retried if it changes something', async () => {
    const contact = { email: 'one@example.com', tags: [] }
    await assert.rejects(client().createContact(contact, { caller }), { code: 'service.unavailable' })
    assert.deepEqual(calls, ['createContact'])
  })
})
