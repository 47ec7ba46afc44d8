import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { busSettings, createBus, type Topic } from '@rollcall/bus'
import { AppError, eventPublishers } from '@rollcall/contract'
import { createSecretHashers, parseHashKeys } from '@rollcall/credentials'
import type { Services } from '@rollcall/protos'
import { type Client, connect, type Handlers, newKeySettings, readTrust, serve, type Trust } from '@rollcall/rpc'
import { createLifecycle, createLogger, type Event, type Logger } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { shared } from '@rollcall/testing/shared'
import { deleteTopics } from '@rollcall/testing/topics'
import { Mongoose, type mongo, Types } from 'mongoose'
import { addressVariable, readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'

export { jsonOf, streamedJsonOf, testCaller, textOf } from '@rollcall/testing/calls'

/** Hashes erased addresses, for parts of the service that tests run by themselves. */
export const addressHasher = createSecretHashers(parseHashKeys(`test:${'a'.repeat(43)}`))['erased-address']

/** A running audience service for tests, with its own database and clients. */
export type TestAudience = {
  contacts: Client<'rollcall.audience.v1.Contacts'>
  attributes: Client<'rollcall.audience.v1.Attributes'>
  batches: Client<'rollcall.audience.v1.Batches'>
  recipients: Client<'rollcall.audience.v1.Recipients'>
  /** The same as campaigns calls it. */
  campaigns: Client<'rollcall.audience.v1.Recipients'>
  signUps: Client<'rollcall.audience.v1.SignUps'>
  client<N extends keyof Services & string>(name: N): Client<N>
  /** Names of campaigns that use a list or segment, by its id; an error: campaigns is down. */
  uses: Map<string, string | AppError>
  /** The accounts that the identity service knows, by organization. */
  users: Map<string, User[]>
  /** Publishes events of another service. */
  publish(topic: Topic, events: Event[]): Promise<void>
  /** The service's database. */
  db: mongo.Db
  /** The service's settings, for its commands. */
  env: NodeJS.ProcessEnv
  /** Starts another replica in its own process, which can be killed. */
  replica(): Promise<Replica>
  stop(): Promise<void>
}

/** Another process of the service under test. */
export type Replica = { batches: TestAudience['batches']; kill(signal: NodeJS.Signals): Promise<[code: number | null]> }

type User = Services['rollcall.identity.v1.Directory']['findUsers']['response']['users'][number]

/** The service in this process on the backing services of the environment, shared by the test files of the process. */
export const startTestAudience = shared(startOwnAudience)

/** The service with its own database, for tests that count all organizations. */
export async function startOwnAudience(): Promise<TestAudience> {
  await using onFailure = new AsyncDisposableStack()
  const keys = newKeySettings(['gateway', 'import', 'messaging', 'campaigns', 'content', 'audience'])
  const dbName = `audience-test-${new Types.ObjectId()}`
  const logger = createLogger({ service: 'audience', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const users = new Map<string, User[]>()
  const uses: TestAudience['uses'] = new Map()
  const neighbours = await serveNeighbours({ users, uses }, readTrust(keys.audience), logger)
  onFailure.defer(() => neighbours.stop())
  const env = {
    ...process.env,
    MONGODB_DATABASE: dbName,
    TOPIC_PREFIX: `${dbName}.`,
    KAFKA_PARTITIONS: '2',
    ...keys.audience,
    ...Object.fromEntries(eventPublishers.map(name => [addressVariable(name), `127.0.0.1:${neighbours.port}`])),
    ERASURE_KEYS: `test:${'a'.repeat(43)}`,
  }
  const config = readConfig({ ...env, PORT: '0', LISTEN_HOST: '127.0.0.1' })
  const database = new Mongoose().createConnection(config.MONGODB_URL, { dbName })
  await database.asPromise()
  onFailure.defer(async () => {
    await dropDatabase(database)
    await database.close()
    await deleteTopics(config.KAFKA_BROKERS.join(), config.TOPIC_PREFIX)
  })
  const lifecycle = createLifecycle({ service: 'audience', logger, graceMs: 10_000 })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const { port } = await service.start(config, lifecycle)
  const address = `127.0.0.1:${port}`
  const connection = connect({ address, trust: readTrust(keys.gateway) })
  const ofContent = connect({ address, trust: readTrust(keys.content) })
  const ofImport = connect({ address, trust: readTrust(keys.import) })
  const ofMessaging = connect({ address, trust: readTrust(keys.messaging) })
  const ofCampaigns = connect({ address, trust: readTrust(keys.campaigns) })
  const bus = createBus({ ...busSettings(config), clientId: 'test', logger })
  const booted = onFailure.move()
  return {
    contacts: connection.client('rollcall.audience.v1.Contacts'),
    attributes: {
      ...connection.client('rollcall.audience.v1.Attributes'),
      describeAttributes: ofImport.client('rollcall.audience.v1.Attributes').describeAttributes,
    },
    batches: ofImport.client('rollcall.audience.v1.Batches'),
    recipients: ofMessaging.client('rollcall.audience.v1.Recipients'),
    campaigns: ofCampaigns.client('rollcall.audience.v1.Recipients'),
    signUps: ofContent.client('rollcall.audience.v1.SignUps'),
    client: name => connection.client(name),
    users,
    uses,
    publish: (topic, events) => bus.publish(topic, events),
    db: database.db!,
    env,
    replica: () => startReplica(env, readTrust(keys.import)),
    stop: async () => {
      connection.close()
      ofImport.close()
      ofContent.close()
      ofMessaging.close()
      ofCampaigns.close()
      await bus.close()
      await booted.disposeAsync()
    },
  }
}

/** Doubles of identity and campaigns, with the rpcs that the audience calls. */
function serveNeighbours({ users, uses }: Pick<TestAudience, 'users' | 'uses'>, trust: Trust, logger: Logger) {
  const directory: Handlers<'rollcall.identity.v1.Directory'> = {
    findUsers: async ({ ids }, { caller }) => ({
      users: (users.get(caller.organizationId) ?? []).filter(({ id }) => ids.includes(id)),
    }),
  }
  const inUse: Handlers<'rollcall.campaigns.v1.Uses'> = {
    async findUse({ listId, segmentId }) {
      const campaignName = uses.get(listId ?? segmentId ?? '')
      if (campaignName instanceof AppError) throw campaignName
      return campaignName === undefined ? {} : { campaignName }
    },
  }
  const services = { 'rollcall.identity.v1.Directory': directory, 'rollcall.campaigns.v1.Uses': inUse }
  return serve({ services, port: 0, host: '127.0.0.1', trust, logger })
}

async function startReplica(env: NodeJS.ProcessEnv, trust: Trust): Promise<Replica> {
  const port = await freePort()
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main], { env: { ...env, PORT: String(port) }, stdio: 'ignore' })
  const exited = once(child, 'exit') as Promise<[code: number | null]>
  const connection = connect({ address: `127.0.0.1:${port}`, trust })
  await connection.ready(60_000)
  return {
    batches: connection.client('rollcall.audience.v1.Batches'),
    kill: signal => {
      child.kill(signal)
      return exited.finally(() => connection.close())
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A page of a list. */
export type Page<T> = { docs: T[]; totalDocs: number; totalPages: number }
