import { randomBytes } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import {
  type CachedValue,
  connectCacheRedis,
  createCredentialCache,
  createSecretHashers,
  createSessionJwt,
  parseCredential,
  tokenCacheId,
} from '@rollcall/credentials'
import type { Services } from '@rollcall/protos'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import type { SendMailRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import {
  anonymousCaller,
  type CallContext,
  type Caller,
  type Client,
  connect,
  newKeySettings,
  type RpcServer,
  readTrust,
  type ServiceName,
  serve,
  serviceCaller,
} from '@rollcall/rpc'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { PASSWORD_COST } from '@rollcall/testing/password-cost'
import { shared } from '@rollcall/testing/shared'
import { deleteTopics } from '@rollcall/testing/topics'
import mongoose from 'mongoose'
import { type Config, readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'

/** JSON of an answer, as far as tests read it. */
export type Json = { [field: string]: Json }

type Request<M> = M extends { request: infer R } ? R : never
type Bound<N extends ServiceName> = { [K in keyof Services[N]]: (request: Request<Services[N][K]>) => Promise<Json> }
type CachedCredential = CachedValue & { caller: Caller }

/** The API for one caller. Every call first resolves the credential through a warm cache. */
export type Api = {
  account: Bound<'rollcall.identity.v1.Account'>
  authentication: Bound<'rollcall.identity.v1.Authentication'>
  roles: Bound<'rollcall.identity.v1.Roles'>
  tokens: Bound<'rollcall.identity.v1.Tokens'>
  users: Bound<'rollcall.identity.v1.Users'>
  features: Bound<'rollcall.identity.v1.Features'>
  workspaces: Bound<'rollcall.identity.v1.Workspaces'>
  members: Bound<'rollcall.identity.v1.Members'>
  invitations: Bound<'rollcall.identity.v1.Invitations'>
  settings: Bound<'rollcall.identity.v1.Settings'>
  /** Resolves the credential to its current caller; every call does so. */
  caller(): Promise<Caller>
}

/** A signed-in user. */
export type Person = { api: Api; credential: string; organizationId: string; userId: string; email: string }

/** A request to messaging to send a mail. */
export type SentMail = SendMailRequest & { organizationId: string }

/** A running service and its clients. */
export type Harness = {
  config: Config
  /** The API without a credential. */
  public: Api
  /** The API with a session JWT or an API token. */
  with(credential: string): Api
  /** Registers an organization with an owner, whose email is verified. */
  register(): Promise<Person>
  /** Adds a person with a role to an organization, signed in. */
  addPerson(organizationId: string, role: string): Promise<Person>
  client<N extends ServiceName>(name: N): Client<N>
  /** The service's database, for states that no call can produce. */
  db: mongoose.mongo.Db
  /** The mails that were sent, in order. */
  mails: readonly SentMail[]
  stop(): Promise<void>
}

export const PASSWORD = 'correct horse'
const BOOT_TIMEOUT_MS = 10_000

/** Random, so that tests do not share names. */
export function unique(what: string): string {
  return `${what}-${randomBytes(6).toString('hex')}`
}

/** Returns the settings of a service with its own database on the backing services of this run. */
export function testEnvironment(overrides: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const key = () => randomBytes(32).toString('base64')
  return {
    ...process.env,
    LOG_LEVEL: 'fatal',
    MONGODB_DATABASE: unique('identity-test'),
    TOPIC_PREFIX: `${unique('identity-test')}.`,
    CREDENTIAL_PREFIX: `${unique('identity-test')}:`,
    ...keys.identity,
    TOKEN_KEY: `test:${key()}`,
    SESSION_KEYS: `test:${key()}`,
    SECRET_KEYS: `test:${key()}`,
    REGISTRATION: 'open',
    ...overrides,
  }
}

const keys = newKeySettings(['identity', 'gateway', 'messaging'])

/** Starts the service in this process, with its own database if it has its own settings. */
export function startHarness(overrides?: NodeJS.ProcessEnv): Promise<Harness> {
  return overrides ? bootHarness(overrides) : sharedHarness()
}

const sharedHarness = shared(() => bootHarness())

async function bootHarness(overrides?: NodeJS.ProcessEnv): Promise<Harness> {
  await using onFailure = new AsyncDisposableStack()
  const mails: SentMail[] = []
  const messaging = await startMailReceiver(mails)
  onFailure.defer(() => messaging.stop())
  const environment = testEnvironment({ MESSAGING_ADDRESS: `127.0.0.1:${messaging.port}`, ...overrides })
  const config = { ...readConfig(environment), passwordCost: PASSWORD_COST }
  const database = await mongoose.createConnection(config.MONGODB_URL, { dbName: config.MONGODB_DATABASE }).asPromise()
  onFailure.defer(async () => {
    await dropDatabase(database)
    await database.close()
    await deleteTopics(config.KAFKA_BROKERS.join(), config.TOPIC_PREFIX)
  })
  const logger = createLogger({ service: 'identity-test', level: 'fatal' })
  const lifecycle = createLifecycle({ service: 'identity', logger })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const { port } = await service.start(config, lifecycle)
  const connectAs = (service: keyof typeof keys) =>
    connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys[service]), deadlineMs: BOOT_TIMEOUT_MS })
  const [connection, ofMessaging] = [connectAs('gateway'), connectAs('messaging')]
  const resolver = createResolver(config, connection.client('rollcall.identity.v1.Credentials'))

  const apiOf = (caller: () => Promise<Caller>): Api => ({
    account: bind(connection.client('rollcall.identity.v1.Account'), caller),
    authentication: bind(connection.client('rollcall.identity.v1.Authentication'), caller),
    roles: bind(connection.client('rollcall.identity.v1.Roles'), caller),
    tokens: bind(connection.client('rollcall.identity.v1.Tokens'), caller),
    users: bind(connection.client('rollcall.identity.v1.Users'), caller),
    features: bind(connection.client('rollcall.identity.v1.Features'), caller),
    workspaces: bind(connection.client('rollcall.identity.v1.Workspaces'), caller),
    members: bind(connection.client('rollcall.identity.v1.Members'), caller),
    invitations: bind(connection.client('rollcall.identity.v1.Invitations'), caller),
    settings: bind(connection.client('rollcall.identity.v1.Settings'), caller),
    caller,
  })
  const anyone = apiOf(async () => anonymousCaller())
  const withCredential = (credential: string) => apiOf(() => resolver.resolve(credential))

  const personOf = async (credential: string, email: string): Promise<Person> => {
    const api = withCredential(credential)
    const { organizationId, userId } = await api.caller()
    return { api, credential, organizationId, userId: userId!, email }
  }

  const booted = onFailure.move()
  return {
    config,
    public: anyone,
    with: withCredential,
    async register() {
      const email = `${unique('owner')}@example.com`
      const { token } = await anyone.authentication.register({ name: 'Owner', email, password: PASSWORD })
      await database.collection('users').updateOne({ emailKey: email }, { $set: { emailVerified: true } })
      const person = await personOf(String(token), email)
      const _id = new mongoose.Types.ObjectId(person.organizationId)
      await database.collection('organizations').updateOne({ _id }, { $set: { verified: true } })
      return person
    },
    async addPerson(organizationId, role) {
      const organization = new mongoose.Types.ObjectId(organizationId)
      const users = database.collection('users')
      const owner = await users.findOne({ organization, role: 'owner' })
      const counted = { $inc: { memberCount: 1 } }
      const carried = await database.collection('roles').findOneAndUpdate({ organization, name: role }, counted)
      const email = `${unique('person')}@example.com`
      const person = {
        ...owner,
        _id: new mongoose.Types.ObjectId(),
        email,
        emailKey: email,
        selfRegistered: false,
        role,
        roleId: carried!._id,
      }
      await users.insertOne(person)
      const { token } = await anyone.authentication.login({ email, password: PASSWORD })
      return personOf(String(token), email)
    },
    client: name => (name === 'rollcall.identity.v1.Directory' ? ofMessaging : connection).client(name),
    db: database.db!,
    mails,
    async stop() {
      resolver.close()
      connection.close()
      ofMessaging.close()
      await booted.disposeAsync()
    },
  }
}

/** A double of messaging that collects mails in the list. */
function startMailReceiver(mails: SentMail[]): Promise<RpcServer> {
  return serve({
    services: {
      'rollcall.messaging.v1.Mail': {
        checkDefaultSender: async () => ({ usable: false }),
        async sendMail({ userId, ...mail }, { caller: { organizationId } }) {
          mails.push({ ...mail, organizationId, ...(userId !== undefined && { userId }) })
          return { id: mail.key }
        },
      },
    },
    port: 0,
    host: '127.0.0.1',
    trust: readTrust(keys.messaging),
    logger: createLogger({ service: 'messaging-test', level: 'fatal' }),
  })
}

/** Resolves credentials as the gateway does. */
function createResolver(config: Config, identity: Client<'rollcall.identity.v1.Credentials'>) {
  const redis = connectCacheRedis({ url: config.REDIS_CACHE_URL })
  const cache = createCredentialCache<CachedCredential>(redis, { prefix: config.CREDENTIAL_PREFIX })
  const { SESSION_KEYS: keys, SESSION_ISSUER: issuer, SESSION_AUDIENCE: audience } = config
  const sessions = createSessionJwt({ keys, issuer, audience })
  const secrets = createSecretHashers(config.TOKEN_KEY)

  const questionOf = (credential: string) => {
    const claim = parseCredential({ authorization: credential })
    if (claim.kind === 'token') {
      const { organizationId, secret } = claim
      const hashes = secrets.token.hashes(secret)
      const id = tokenCacheId(hashes[0]!, secret)
      const ask = (context: CallContext) => identity.resolveToken({ organizationId, hashes }, context)
      return { ref: { organizationId, kind: 'token' as const, id }, ask }
    }
    const claims = claim.kind === 'session' ? sessions.verify(claim.jwt) : undefined
    if (!claims) throw new AppError('session.invalid')
    const { org: organizationId, sid: sessionId, sub: userId } = claims
    const ask = (context: CallContext) => identity.resolveSession({ organizationId, sessionId, userId }, context)
    return { ref: { organizationId, kind: 'session' as const, id: sessionId }, ask }
  }

  return {
    async resolve(credential: string): Promise<Caller> {
      const { ref, ask } = questionOf(credential)
      const load = async () => cached(await ask({ caller: serviceCaller('gateway', ref.organizationId) }))
      return (await cache.resolve(ref, load))!.caller
    },
    close: () => redis.disconnect(),
  }
}

function cached({
  kind,
  permissions,
  expiresAt,
  allowedIps: _,
  allowedOrigins: __,
  secondFactorMissing: ___,
  ...rest
}: ResolvedCredential): CachedCredential {
  const caller = {
    ...rest,
    kind: kind as Caller['kind'],
    permissions: permissions[0] === '*' ? ('*' as const) : permissions,
  }
  return { caller, expiresAt: expiresAt ? Date.parse(expiresAt) : null }
}

/** Returns a client that calls as this caller and returns parsed bodies. */
function bind<N extends ServiceName>(client: Client<N>, caller: () => Promise<Caller>): Bound<N> {
  const methods = Object.entries(client as Record<string, (request: unknown, context: CallContext) => unknown>)
  return Object.fromEntries(
    methods.map(([name, call]) => [
      name,
      async (request: unknown) => jsonOf(call(request, { caller: await caller() })),
    ]),
  ) as Bound<N>
}

async function jsonOf(answer: unknown): Promise<Json> {
  if (answer instanceof Promise) return parsed(await answer)
  const chunks: Buffer[] = []
  for await (const { data } of answer as AsyncIterable<{ data: Buffer }>) chunks.push(data)
  return JSON.parse(Buffer.concat(chunks).toString())
}

function parsed(answer: { data?: Buffer }): Json {
  return answer.data ? JSON.parse(answer.data.toString()) : (answer as Json)
}
