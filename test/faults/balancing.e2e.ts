import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freePort } from '@rollcall/local'
import type { Client, Connection, RpcServer } from '@rollcall/rpc'
import { createLogger, pause } from '@rollcall/runtime'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { counted } from '../soak.ts'

process.env.GRPC_NODE_USE_ALTERNATIVE_RESOLVER = 'true' // read when grpc-js loads: resolves names by our DNS
const { connect, createSigner, newKeySettings, readTrust, serve, serviceCaller } = await import('@rollcall/rpc')
const { Client: GrpcClient, credentials, Metadata } = await import('@grpc/grpc-js')

const maxConnectionAgeMs = 2000
/** Calls to each replica. */
const callsToEach = counted(50, 200)
const zone = 'rollcall.test'
const name = `identity.${zone}`
const keys = newKeySettings(['messaging', 'content'])
const trust = readTrust(keys.messaging)
const caller = serviceCaller('messaging', 'a'.repeat(24))
const sign = createSigner(trust.signingKey)

const method = '/rollcall.identity.v1.Directory/FindUsers'

/** A plain gRPC client with options of its channel. */
function plainClient(address: string, options: object = {}) {
  const plain = new GrpcClient(address, credentials.createInsecure(), options)
  const metadata = new Metadata()
  metadata.set('rollcall-caller', sign(caller, method))
  return {
    call: (deadline = Date.now() + scaledTimeout(10_000)) =>
      new Promise((resolve, reject) => {
        const answered = (error: Error | null) => (error ? reject(error) : resolve(undefined))
        plain.makeUnaryRequest(
          method,
          () => Buffer.alloc(0),
          bytes => bytes,
          null,
          metadata,
          { deadline },
          answered,
        )
      }),
    close: () => plain.close(),
  }
}

/** K2 of the goals: replicas behind one name, as behind the headless service of a cluster. */
describe('calls to a service of several replicas', () => {
  let dns: TestDns
  let port: number
  const replicas: { server: RpcServer; calls: number }[] = []

  const addReplica = async () => {
    const replica = { calls: 0 } as (typeof replicas)[number]
    replica.server = await serve({
      services: {
        'rollcall.identity.v1.Directory': {
          findUsers: async () => {
            replica.calls++
            return { users: [] }
          },
        },
      },
      host: `127.0.0.${11 + replicas.length}`,
      port,
      trust,
      maxConnectionAgeMs,
      logger: createLogger({ service: 'test', level: 'silent' }),
    })
    replicas.push(replica)
    const addresses = replicas.map((_, index) => ({ name, type: 'A', data: `127.0.0.${11 + index}`, ttl: 1 }))
    dns.publish(zone, addresses)
  }
  const address = () => `dns://${dns.resolver.address}:${dns.resolver.port}/${name}:${port}`

  before(async () => {
    dns = await startTestDns()
    dns.zone(zone, ['127.0.0.2'])
    port = await freePort()
    for (let count = 0; count < 3; count++) await addReplica()
  })
  after(async () => {
    for (const { server } of replicas) await server.stop()
    await dns.stop()
  })

  /** Returns the share of calls of each replica, relative to the mean. */
  const sharesOf = async (calls: number, call: () => Promise<unknown>): Promise<number[]> => {
    for (const replica of replicas) replica.calls = 0
    for (let sent = 0; sent < calls; sent++) await call()
    return replicas.map(replica => (replica.calls / calls) * replicas.length)
  }
  const isEven = (shares: number[]) => shares.every(share => share >= 0.8 && share <= 1.2)
  const shown = (shares: number[]) => shares.map(share => share.toFixed(2)).join(' ')
  const ask = (directory: Client<'rollcall.identity.v1.Directory'>) => () =>
    directory.findUsers({ ids: [] }, { caller })

  it('reach all of them equally often, and a new one soon', async () => {
    const connection = connect({ address: address(), trust })
    const directory = connection.client('rollcall.identity.v1.Directory')
    try {
      await sharesOf(10, ask(directory))
      const three = await sharesOf(3 * callsToEach, ask(directory))
      console.log(`K2  3 replicas, share of the mean: ${shown(three)}`)
      assert.ok(isEven(three))

      await addReplica()
      const startedAt = performance.now()
      while (replicas[3]!.calls === 0) {
        assert.ok(
          performance.now() - startedAt < scaledTimeout(maxConnectionAgeMs + 10_000),
          'the new replica gets no calls',
        )
        await ask(directory)()
        await pause(10)
      }
      const seconds = (performance.now() - startedAt) / 1000
      const four = await sharesOf(4 * callsToEach, ask(directory))
      console.log(`K2  a 4th found after ${seconds.toFixed(1)} s, share of the mean: ${shown(four)}`)
      assert.ok(isEven(four))
    } finally {
      connection.close()
    }
  })

  it('all go to one with a client as it comes, by the same count', async () => {
    const { call, close } = plainClient(address())
    try {
      assert.ok(!isEven(await sharesOf(100, () => call())))
    } finally {
      close()
    }
  })
})

/** Writes of an organization, which would conflict if replicas made them in transactions of their own. */
describe('writes to a service of several replicas', () => {
  const opened = new AsyncDisposableStack()
  const organizations = Array.from({ length: 32 }, (_, number) => number.toString(16).padStart(24, '0'))
  const servers: RpcServer[] = []
  /** The replicas that each organization's writes came to. */
  const replicasOf = new Map<string, Set<number>>()
  let connections: Connection[]

  before(async () => {
    const logger = createLogger({ service: 'test', level: 'silent' })
    for (const replica of [0, 1, 2]) {
      const isNoted = async ({ id }: { id: string }) => {
        replicasOf.get(id)!.add(replica)
        return { contactId: '' }
      }
      const services = {
        'rollcall.audience.v1.SignUps': {
          applySignUp: isNoted,
          checkTargets: async () => ({ unknownAttributes: [], unknownLists: [], missingAttributes: [] }),
        },
      }
      const server = await serve({ services, host: '127.0.0.1', port: 0, trust, logger })
      opened.defer(() => server.stop())
      servers.push(server)
    }
    // Clients learn the addresses in different orders.
    const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
    connections = [addresses, addresses.toReversed()].map(known =>
      connect({ address: `ipv4:${known}`, trust: readTrust(keys.content) }),
    )
    for (const connection of connections) opened.defer(async () => connection.close())
  })
  after(() => opened.disposeAsync())

  const write = (organization: string, connection: Connection) => {
    const signUps = connection.client('rollcall.audience.v1.SignUps')
    const caller = serviceCaller('content', organization)
    const deadline = Date.now() + scaledTimeout(10_000)
    const nothing = {
      email: '',
      name: '',
      attributes: {},
      tags: [],
      lists: [],
      collectionId: '',
      entryId: '',
      form: '',
    }
    return signUps.applySignUp({ ...nothing, id: organization, at: '' }, { caller, deadline })
  }
  /** Every client writes for every organization. Returns the replica of each; fails if one has several. */
  const spread = async (writes: number): Promise<number[]> => {
    for (const organization of organizations) replicasOf.set(organization, new Set())
    for (let sent = 0; sent < writes; sent++)
      for (const organization of organizations)
        await Promise.all(connections.map(connection => write(organization, connection)))
    return organizations.map(organization => {
      const [replica, ...others] = replicasOf.get(organization)!
      assert.deepEqual(others, [], organization)
      return replica!
    })
  }

  it('go to one for each organization, the same for all clients, and move only from one that stops', async () => {
    for (const connection of connections) await connection.ready(scaledTimeout(10_000))
    const reached = async () => new Set(await spread(1).catch(() => [])).size
    await eventually('all replicas are connected', async () => (await reached()) === 3)
    const before = await spread(5)

    await servers[1]!.stop()
    await eventually('the one that stopped is left out', async () => (await reached()) === 2)
    const since = await spread(5)
    assert.deepEqual(
      since.filter((_, index) => before[index] !== 1),
      before.filter(replica => replica !== 1),
    )
    assert.deepEqual([...new Set(since)].sort(), [0, 2])
  })
})

/** Simulates a machine that lost power: its connections are neither closed nor answered. */
describe('calls to two replicas, of which one falls silent', () => {
  const answersInARow = 20
  const longestWaitMs = 500
  const timeoutMs = 20_000
  const opened = new AsyncDisposableStack()
  type Call = (deadline: number) => Promise<unknown>
  let call: Call
  let plainCall: Call

  before(async () => {
    const called = new Set<string>()
    const logger = createLogger({ service: 'test', level: 'silent' })
    const start = async (replica: string) => {
      const findUsers = async () => {
        called.add(replica)
        return { users: [] }
      }
      const services = { 'rollcall.identity.v1.Directory': { findUsers } }
      const server = await serve({ services, host: '127.0.0.1', port: 0, trust, logger })
      opened.defer(() => server.stop())
      return server
    }
    const [one, other] = [await start('one'), await start('other')]
    const link = await linkTo(`127.0.0.1:${one.port}`)
    opened.defer(() => link.stop())
    const address = `ipv4:${link.url},127.0.0.1:${other.port}`

    const connection = connect({ address, trust })
    opened.defer(() => connection.close())
    const directory = connection.client('rollcall.identity.v1.Directory')
    call = deadline => directory.findUsers({ ids: [] }, { caller, deadline })
    const roundRobin = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] })
    const plain = plainClient(address, { 'grpc.service_config': roundRobin })
    opened.defer(() => plain.close())
    plainCall = plain.call

    for (const each of [call, plainCall]) {
      called.clear()
      while (called.size < 2) await each(Date.now() + scaledTimeout(timeoutMs))
    }
    link.become('silent')
  })
  after(() => opened.disposeAsync())

  /** Whether this many calls in a row succeed. */
  const areAnswered = async (call: Call): Promise<boolean> => {
    for (let answered = 0; answered < answersInARow; answered++) {
      const isAnswered = await call(Date.now() + scaledTimeout(longestWaitMs)).then(
        () => true,
        () => false,
      )
      if (!isAnswered) return false
    }
    return true
  }

  it('all go to the other soon', async () => {
    const startedAt = performance.now()
    while (!(await areAnswered(call))) assert.ok(performance.now() - startedAt < scaledTimeout(timeoutMs))
  })

  it('are still lost by then with a client as it comes', async () => {
    assert.equal(await areAnswered(plainCall), false)
  })
})
