import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { busSettings, createBus, topics } from '@rollcall/bus'
import { ConfigError, createLogger, type Event, pause } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import {
  type Harness,
  type Json,
  PASSWORD,
  type Person,
  startHarness,
  testEnvironment,
  unique,
} from '../test/identity.ts'
import { readConfig } from './config.ts'

const unavailable = { code: 'service.unavailable', status: 503, message: 'service unavailable' }

describe('first start', () => {
  const bootstrap = {
    BOOTSTRAP_EMAIL: 'first@example.com',
    BOOTSTRAP_PASSWORD: PASSWORD,
    BOOTSTRAP_ORGANIZATION: 'First',
  }
  const counts = async ({ db }: Harness) => {
    const collections = ['organizations', 'users', 'roles'].map(name => db.collection(name).countDocuments())
    return Promise.all(collections)
  }

  it('makes the first organization and its owner, and no start after it another', async test => {
    const MONGODB_DATABASE = unique('identity-test')
    const first = await boot(test, { ...bootstrap, MONGODB_DATABASE })
    await boot(test, { ...bootstrap, MONGODB_DATABASE, BOOTSTRAP_EMAIL: 'second@example.com' })
    const login = (email: string) => first.public.authentication.login({ email, password: PASSWORD })
    const { token } = await login('first@example.com')
    const me = await first.with(String(token)).authentication.getMe({})
    assert.deepEqual([me.organization!.name, me.role, me.permissions], ['First', 'owner', ['*']])
    await assert.rejects(login('second@example.com'), { status: 401 })
    assert.deepEqual(await counts(first), [1, 1, 3])
  })

  it('of several replicas at once makes one organization', async test => {
    const MONGODB_DATABASE = unique('identity-test')
    const [replica] = await Promise.all([1, 2, 3].map(() => boot(test, { ...bootstrap, MONGODB_DATABASE })))
    assert.deepEqual(await counts(replica!), [1, 1, 3])
  })

  it('creates nothing without a configured owner', async test => {
    assert.deepEqual(await counts(await boot(test)), [0, 0, 0])
  })
})

describe('a later version', () => {
  it('shows the built-in roles as it knows them, which they were all along', async test => {
    const MONGODB_DATABASE = unique('identity-test')
    const first = await boot(test, { MONGODB_DATABASE })
    const { api } = await first.register()
    const shown = async () => {
      const roles = (await api.roles.listRoles({ list: { pagination: false } })) as unknown as Json[]
      return roles.map(({ name, permissions, description }) => ({ name, permissions, description }))
    }
    const before = await shown()
    const outdated = { permissions: { links: ['read'] }, description: 'outdated' }
    await first.db.collection('roles').updateMany({}, { $set: outdated })
    assert.equal((await api.caller()).permissions, '*')
    await boot(test, { MONGODB_DATABASE })
    assert.deepEqual(await shown(), before)
  })
})

describe('events', () => {
  it('arrive on the topic of the context, in order', async test => {
    const harness = await boot(test)
    const logger = createLogger({ service: 'identity-test', level: 'fatal' })
    const bus = createBus({ ...busSettings(harness.config), clientId: 'identity-test', logger })
    test.after(bus.close)
    const received: Event[] = []
    bus.consume({ group: 'test', topics: [topics.identity], handle: async event => void received.push(event) })
    const { api } = await harness.register()
    const { id } = await api.tokens.createToken({ name: 'published' })
    await api.tokens.updateToken({ id: String(id), archived: true })
    await api.tokens.deleteToken({ id: String(id) })
    const about = () => received.filter(({ subject }) => subject === String(id)).map(({ type }) => type)
    for (let waitedMs = 0; about().length < 3 && waitedMs < scaledTimeout(20_000); waitedMs += 50) await pause(50)
    assert.deepEqual(about(), ['token.created', 'token.updated', 'token.deleted'])
    assert.ok(received.some(({ type }) => type === 'session.created'))
  })
})

describe('with Redis away', () => {
  let harness: Harness
  let owner: Person
  let redis: Awaited<ReturnType<typeof startCuttable>>
  before(async () => {
    redis = await startCuttable(new URL(testEnvironment().REDIS_CACHE_URL!))
    harness = await startHarness({ REDIS_CACHE_URL: redis.url })
    owner = await harness.register()
  })
  after(async () => {
    await harness.stop()
    redis.close()
  })

  it('refuses to change credentials, changes nothing, and goes on without a restart', async () => {
    const person = await harness.addPerson(owner.organizationId, 'admin')
    const { id: token, token: secret } = await owner.api.tokens.createToken({ name: 'kept' })
    const { id: role } = await owner.api.roles.saveRole({
      name: 'kept',
      kind: 'api',
      permissions: { links: ['read'] },
    })
    const changes = () => [
      () => owner.api.tokens.updateToken({ id: String(token), active: false }),
      () => owner.api.tokens.deleteToken({ id: String(token) }),
      () => owner.api.roles.saveRole({ name: 'kept', kind: 'api', permissions: {} }),
      () => owner.api.roles.deleteRole({ id: String(role) }),
      () => owner.api.users.blockUser({ id: person.userId }),
      () => owner.api.users.changeRole({ id: person.userId, role: 'user' }),
      () => owner.api.users.deleteUser({ id: person.userId }),
      () => owner.api.authentication.logout({}),
    ]
    redis.cut()
    for (const change of changes()) await assert.rejects(change(), unavailable)
    const { docs } = await owner.api.roles.listRoles({ list: { filter: '{"name":"kept"}' } })
    assert.deepEqual((docs as unknown as { permissions: object }[])[0]!.permissions, { links: ['read'] })
    assert.equal((await owner.api.tokens.getToken({ id: String(token) })).active, true)
    assert.equal((await harness.with(String(secret)).caller()).tokenId, token)
    assert.equal((await person.api.caller()).role, 'admin')

    redis.mend()
    const [deactivate] = changes()
    await eventually(deactivate!)
    await assert.rejects(harness.with(String(secret)).caller(), { status: 401 })
  })
})

describe('settings', () => {
  const problemOf = (overrides: NodeJS.ProcessEnv) => {
    try {
      readConfig(testEnvironment(overrides))
      return undefined
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
  }

  for (const [variable, value] of [
    ['ASSERTION_KEY', 'c2hvcnQ='],
    ['ASSERTION_PUBLIC_KEYS', 'c2hvcnQ='],
    ['TOKEN_KEY', 'c2hvcnQ='],
    ['SESSION_KEYS', 'nameless'],
    ['SESSION_HOURS', '11'],
    ['SESSION_HOURS', '169'],
    ['REGISTRATION', 'maybe'],
    ['MONGODB_URL', 'http://localhost'],
    ['REDIS_CACHE_URL', 'localhost'],
  ] as const) {
    it(`refuses ${variable}=${value} by name, without its value`, () => {
      const problem = problemOf({ [variable]: value })
      assert.match(
        problem ?? '',
        new RegExp(`^${variable} is not usable: expected|^${variable} is not usable: Invalid`),
      )
      if (variable.includes('KEY')) assert.ok(!problem?.includes(value))
    })
  }

  it('want both halves of the first sign-in', () => {
    assert.equal(
      problemOf({ BOOTSTRAP_EMAIL: 'x@example.com' }),
      'BOOTSTRAP_PASSWORD is missing: expected both or neither',
    )
    assert.match(
      problemOf({ BOOTSTRAP_EMAIL: 'x@example.com', BOOTSTRAP_PASSWORD: 'short' }) ?? '',
      /^BOOTSTRAP_PASSWORD/,
    )
    assert.match(problemOf({ BOOTSTRAP_EMAIL: 'x', BOOTSTRAP_PASSWORD: PASSWORD }) ?? '', /^BOOTSTRAP_EMAIL/)
  })

  it('need what has no default', () => {
    for (const variable of [
      'MONGODB_URL',
      'KAFKA_BROKERS',
      'REDIS_CACHE_URL',
      'ASSERTION_KEY',
      'ASSERTION_PUBLIC_KEYS',
      'TOKEN_KEY',
      'SESSION_KEYS',
    ]) {
      assert.match(problemOf({ [variable]: '' }) ?? '', new RegExp(`^${variable} is missing`))
    }
  })
})

/** Starts a service that ends with the test. */
async function boot(test: TestContext, settings: NodeJS.ProcessEnv = {}): Promise<Harness> {
  const harness = await startHarness(settings)
  test.after(harness.stop)
  return harness
}

/** A proxy to a server that can be cut and restored. */
async function startCuttable(target: URL) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer(client => {
    if (isCut) return client.destroy()
    const upstream = dial(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => other.destroy())
        .pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`,
    cut,
    mend: () => {
      isCut = false
    },
    close: () => {
      cut()
      server.close()
    },
  }
}

async function eventually(task: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return void (await task())
    } catch (error) {
      if (attempt === 100) throw error
      await pause(50)
    }
  }
}
