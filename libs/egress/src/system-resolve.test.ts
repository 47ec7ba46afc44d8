import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { after, afterEach, before, describe, it } from 'node:test'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { resolveHost } from './checked-host.ts'
import { systemResolve } from './system-resolve.ts'

const RECEIVER = 'receiver.example.com'
const SILENT = 'silent.example.com'

describe('the names of hosts that users choose', () => {
  let server: TestDns
  before(async () => {
    server = await startTestDns()
  })
  after(() => server?.stop())
  afterEach(() => server.reset())

  const serve = (...records: [name: string, type: 'A' | 'AAAA', data: string][]) =>
    server.zone(
      'example.com',
      [],
      records.map(([name, type, data]) => ({ name, type, data })),
    )
  const newResolver = () => {
    const dns = new Resolver({ timeout: scaledTimeout(10_000), tries: 1 })
    dns.setServers([`${server.resolver.address}:${server.resolver.port}`])
    return dns
  }

  it('are resolved while the name servers of others stay silent', async () => {
    serve([RECEIVER, 'A', '8.8.8.8'], [RECEIVER, 'AAAA', '2606:4700::1111'])
    server.behave(({ name }) => (name === SILENT ? 'silence' : undefined))
    const dns = newResolver()
    const policy = { allowPrivate: false, resolve: systemResolve({ dns }) }
    const waiting = Array.from({ length: 10 }, () => assert.rejects(policy.resolve(SILENT), { code: 'ECANCELLED' }))
    const { addresses } = await resolveHost(RECEIVER, policy)
    assert.deepEqual(addresses, ['8.8.8.8', '2606:4700::1111'])
    dns.cancel()
    await Promise.all(waiting)
  })

  it('are looked up by the system one at a time, each once, if DNS does not know them', async () => {
    serve([RECEIVER, 'A', '8.8.8.8'])
    const waiting: PromiseWithResolvers<void>[] = []
    const lookedUp: string[] = []
    const lookUp = async (name: string) => {
      lookedUp.push(name)
      const gate = Promise.withResolvers<void>()
      waiting.push(gate)
      await gate.promise
      return [{ address: '10.0.0.1', family: 4 }]
    }
    const resolve = systemResolve({ dns: newResolver(), lookUp })
    const [first, same, other] = [resolve('mail'), resolve('mail'), resolve('absent.example.com')]
    assert.deepEqual(await resolve(RECEIVER), [{ address: '8.8.8.8', family: 4 }])
    assert.deepEqual(lookedUp, ['mail'])
    waiting[0]!.resolve()
    assert.deepEqual(await first, await same)
    const second = await eventually('the second name is looked up', () => waiting[1])
    second.resolve()
    assert.deepEqual(await other, [{ address: '10.0.0.1', family: 4 }])
    assert.deepEqual(lookedUp, ['mail', 'absent.example.com'])
  })

  it('include those of the hosts file', async () => {
    const found = await systemResolve({ dns: newResolver() })('localhost')
    assert.ok(found.some(({ address }) => address === '127.0.0.1' || address === '::1'))
    assert.deepEqual(server.asked, [])
  })
})
