import { randomBytes } from 'node:crypto'
import {
  type CachedValue,
  connectCacheRedis,
  createCredentialCache,
  createSessionJwt,
  credentialMessages,
  hashSecret,
  parseCredential,
} from '@rollcall/credentials'
import type { Services } from '@rollcall/protos'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import {
  AppError,
  anonymousCaller,
  type CallContext,
  type Caller,
  type Client,
  connect,
  type ServiceName,
  serviceCaller,
} from '@rollcall/rpc'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import mongoose from 'mongoose'
import { type Config, readConfig } from './config.ts'
import type { Mail } from './mailer.ts'
import { startIdentity } from './service.ts'

/** JSON of an answer, as far as tests look into it. */
export type Json = { [field: string]: Json }

type Request<M> = M extends { request: infer R } ? R : never
type Bound<N extends ServiceName> = { [K in keyof Services[N]]: (request: Request<Services[N][K]>) => Promise<Json> }
type CachedCredential = CachedValue & { caller: Caller }

/** The API as one caller has it: every call resolves the credential first, through a cache that is kept warm. */
export type Api = {
  authentication: Bound<'rollcall.identity.v1.Authentication'>
  roles: Bound<'rollcall.identity.v1.Roles'>
  tokens: Bound<'rollcall.identity.v1.Tokens'>
  users: Bound<'rollcall.identity.v1.Users'>
  features: Bound<'rollcall.identity.v1.Features'>
  workspaces: Bound<'rollcall.identity.v1.Workspaces'>
  members: Bound<'rollcall.identity.v1.Members'>
  invitations: Bound<'rollcall.identity.v1.Invitations'>
  /** The caller that the credential stands for now; every call asks for it. */
  caller(): Promise<Caller>
}

/** Someone who is signed in. */
export type Person = { api: Api; credential: string; organizationId: string; userId: string; email: string }

/** A running service and the ways to call it. */
export type Harness = {
  config: Config
  /** The API without a credential. */
  public: Api
  /** The API with a session JWT or an API token. */
  with(credential: string): Api
  /** Registers an organization with an owner. */
  register(): Promise<Person>
  /** Adds a person with a role to an organization, signed in. */
  addPerson(organizationId: string, role: string): Promise<Person>
  client<N extends ServiceName>(name: N): Client<N>
  /** The service's database, for what no call can bring about. */
  db: mongoose.mongo.Db
  /** The mails that were sent, in order. */
  mails: readonly Mail[]
  stop(): Promise<void>
}

export const password = 'correct horse'
const bootTimeoutMs = 10_000

/** Random, so that tests never meet on what they share. */
export function unique(what: string): string {
  return `${what}-${randomBytes(6).toString('hex')}`
}

/** Settings of a service with a database of its own on the backing services of this run. */
export function testEnvironment(overrides: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const key = () => randomBytes(32).toString('base64')
  return {
    ...process.env,
    LOG_LEVEL: 'fatal',
    MONGODB_DATABASE: unique('identity-test'),
    TOPIC_PREFIX: `${unique('identity-test')}.`,
    CREDENTIAL_PREFIX: `${unique('identity-test')}:`,
    ASSERTION_KEY: key(),
    TOKEN_KEY: key(),
    SESSION_KEYS: `test:${key()}`,
    REGISTRATION: 'open',
    ...overrides,
  }
}

/** Starts the service in this process. */
export async function startHarness(overrides?: NodeJS.ProcessEnv): Promise<Harness> {
  const config = readConfig(testEnvironment(overrides))
  const mails: Mail[] = []
  const logger = createLogger({ service: 'identity-test', level: 'info', destination: intercepting(mails) })
  const lifecycle = createLifecycle({ service: 'identity', logger })
  const { port } = await startIdentity(config, lifecycle)
  const connection = connect({
    address: `127.0.0.1:${port}`,
    assertionKeys: config.ASSERTION_KEY,
    deadlineMs: bootTimeoutMs,
  })
  const database = await mongoose.createConnection(config.MONGODB_URL, { dbName: config.MONGODB_DATABASE }).asPromise()
  const resolver = createResolver(config, connection.client('rollcall.identity.v1.Credentials'))

  const apiOf = (caller: () => Promise<Caller>): Api => ({
    authentication: bind(connection.client('rollcall.identity.v1.Authentication'), caller),
    roles: bind(connection.client('rollcall.identity.v1.Roles'), caller),
    tokens: bind(connection.client('rollcall.identity.v1.Tokens'), caller),
    users: bind(connection.client('rollcall.identity.v1.Users'), caller),
    features: bind(connection.client('rollcall.identity.v1.Features'), caller),
    workspaces: bind(connection.client('rollcall.identity.v1.Workspaces'), caller),
    members: bind(connection.client('rollcall.identity.v1.Members'), caller),
    invitations: bind(connection.client('rollcall.identity.v1.Invitations'), caller),
    caller,
  })
  const anyone = apiOf(async () => anonymousCaller())
  const withCredential = (credential: string) => apiOf(() => resolver.resolve(credential))

  const personOf = async (credential: string, email: string): Promise<Person> => {
    const api = withCredential(credential)
    const { organizationId, userId } = await api.caller()
    return { api, credential, organizationId, userId: userId!, email }
  }

  return {
    config,
    public: anyone,
    with: withCredential,
    async register() {
      const email = `${unique('owner')}@example.com`
      const { token } = await anyone.authentication.register({ name: 'Owner', email, password })
      return personOf(String(token), email)
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
        role,
        roleId: carried!._id,
      }
      await users.insertOne(person)
      const { token } = await anyone.authentication.login({ email, password })
      return personOf(String(token), email)
    },
    client: name => connection.client(name),
    db: database.db!,
    mails,
    async stop() {
      resolver.close()
      connection.close()
      await lifecycle.stop('test over')
      await database.dropDatabase()
      await database.close()
    },
  }
}

/** Where the log goes: mails into the list, and whatever is fatal to the output. */
function intercepting(mails: Mail[]) {
  return {
    write(line: string) {
      const { mail, level } = JSON.parse(line) as { mail?: Mail; level: string }
      if (mail) mails.push(mail)
      else if (level === 'fatal') process.stdout.write(line)
    },
  }
}

/** Resolves credentials as the gateway does. */
function createResolver(config: Config, identity: Client<'rollcall.identity.v1.Credentials'>) {
  const redis = connectCacheRedis({ url: config.REDIS_CACHE_URL })
  const cache = createCredentialCache<CachedCredential>(redis, { prefix: config.CREDENTIAL_PREFIX })
  const { SESSION_KEYS: keys, SESSION_ISSUER: issuer, SESSION_AUDIENCE: audience } = config
  const sessions = createSessionJwt({ keys, issuer, audience })

  const questionOf = (credential: string) => {
    const claim = parseCredential({ authorization: credential })
    if (claim.kind === 'token') {
      const { organizationId, secret } = claim
      const id = hashSecret(secret, config.TOKEN_KEY)
      const ask = (context: CallContext) => identity.resolveToken({ organizationId, hash: id }, context)
      return { ref: { organizationId, kind: 'token' as const, id }, ask }
    }
    const claims = claim.kind === 'session' ? sessions.verify(claim.jwt) : undefined
    if (!claims) throw new AppError('unauthenticated', { message: credentialMessages.badSession })
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

function cached({ kind, permissions, expiresAt, allowedIps: _, ...rest }: ResolvedCredential): CachedCredential {
  const caller = {
    ...rest,
    kind: kind as Caller['kind'],
    permissions: permissions[0] === '*' ? ('*' as const) : permissions,
  }
  return { caller, expiresAt: expiresAt ? Date.parse(expiresAt) : null }
}

/** A client whose calls are made as a caller, and answer the JSON of their bodies. */
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
