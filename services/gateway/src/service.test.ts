import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { json } from '@rollcall/contract'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { bootGateway, issueToken, StubbedServices, type TestGateway } from '../test/gateway.ts'

const id = 'c0ffee'.repeat(4)
const PATH = `/api/audience/${id}`

describe('a gateway that stops', () => {
  const get = (gateway: TestGateway, agent: Agent, path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Authorization: issueToken(gateway.services) }
      httpRequest(gateway.url + path, { agent, headers })
        .on('response', resolve)
        .on('error', reject)
        .end()
    })

  it('answers requests in progress, closes idle connections, accepts no new ones, and ends', async () => {
    const gateway = await bootGateway()
    const { services } = gateway
    const { promise, resolve } = Promise.withResolvers<unknown>()
    services.behaviours.set('getContact', () => promise)
    const agent = new Agent({ keepAlive: true })
    const waiting = get(gateway, agent, PATH)
    await eventually('the request is at the service', () => services.count('getContact'))
    const idle = connect({ port: gateway.port, host: '127.0.0.1' })
    await once(idle, 'connect')

    const stopped = gateway.lifecycle.stop('test')
    await once(idle.resume(), 'close')
    await assert.rejects(fetch(gateway.url + PATH), 'a new connection is refused')
    resolve(json({ late: true }))
    const response = await waiting
    assert.equal(response.statusCode, 200)
    assert.equal(await text(response), '{"late":true}')
    assert.equal(await stopped, 'clean')
    await services.server?.stop()
    agent.destroy()
  })

  it('asks clients to close their connections from the moment it is not ready', async () => {
    const gateway = await bootGateway()
    const agent = new Agent({ keepAlive: true })
    const before = await get(gateway, agent, PATH)
    assert.equal(before.headers.connection, 'keep-alive')
    await text(before)
    gateway.lifecycle.health.drain()
    const after = await get(gateway, agent, PATH)
    assert.equal(after.headers.connection, 'close')
    await text(after)
    await gateway.stop()
    agent.destroy()
  })

  it('lets a stream in progress end', async () => {
    const gateway = await bootGateway()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('exportContacts', async function* () {
      for (const chunk of ['a', 'b', 'c']) {
        yield { contentType: 'text/csv', data: Buffer.from(chunk) }
        if (chunk === 'b') await promise
      }
    })
    const agent = new Agent({ keepAlive: true })
    const response = await get(gateway, agent, '/api/audience/export')
    const stopped = gateway.lifecycle.stop('test')
    await pause(50)
    resolve()
    assert.equal(await text(response), 'abc')
    assert.equal(await stopped, 'clean')
    await gateway.services.server?.stop()
    agent.destroy()
  })

  it('cuts a stream that nobody reads to its end, and then stops the rest', async () => {
    const gateway = await bootGateway({}, undefined, { graceMs: scaledTimeout(1_000) })
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.services.behaviours.set('exportContacts', async function* () {
      for (const chunk of ['a', 'b']) yield { contentType: 'text/csv', data: Buffer.from(chunk) }
      await promise
    })
    const agent = new Agent({ keepAlive: true })
    const response = await get(gateway, agent, '/api/audience/export')
    const cut = assert.rejects(text(response), { code: 'ECONNRESET' })
    assert.equal(await gateway.lifecycle.stop('test'), 'clean')
    await cut
    resolve()
    await gateway.services.server?.stop()
    agent.destroy()
  })
})

describe('a gateway that starts', () => {
  it('is ready once it has reached identity, and stays so', async () => {
    const services = new StubbedServices()
    const port = await services.start()
    await services.server!.stop()
    const gateway = await bootGateway({}, services)
    const { health } = gateway.lifecycle
    assert.deepEqual(await health.ready(), { ok: false, state: 'serving', checks: { identity: 'failed' } })
    assert.equal((await fetch(gateway.url + PATH, { headers: { Authorization: issueToken(services) } })).status, 503)
    await services.start(port)
    await eventually('the gateway is ready', async () => (await health.ready()).ok)
    await services.server!.stop()
    assert.equal((await health.ready()).ok, true)
    await gateway.lifecycle.stop('test is over')
  })
})
