import { randomBytes } from 'node:crypto'
import { AppError, toAppError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'
import type { ApplySignUpRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { SendMailRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { type Client, connect, type Handlers, newKeySettings, readTrust, serve, type Trust } from '@rollcall/rpc'
import { createLifecycle, createLogger, type Event, type Logger } from '@rollcall/runtime'
import { shared } from '@rollcall/testing/shared'
import { deleteTopics } from '@rollcall/testing/topics'
import { Mongoose, type mongo, Types } from 'mongoose'
import { type Config, readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'

export { jsonOf, streamedJsonOf, testCaller, textOf } from '@rollcall/testing/calls'

/** A running content service for tests, with its own database. */
export type TestContent = {
  client<N extends keyof Services & string>(name: N): Client<N>
  /** What it holds of people, as the audience asks for it. */
  people: Client<'rollcall.people.v1.People'>
  /** The doubles of audience and messaging. */
  neighbours: Neighbours
  /** Its settings. A test may change them until it ends. */
  config: Config
  /** How far its clock is ahead, in milliseconds. A test may change it until it ends. */
  clock: { aheadMs: number }
  /** The environment of another process of the service on the same database. */
  environment: NodeJS.ProcessEnv
  /** The service's database. */
  db: mongo.Db
  /** Returns the events in the outbox about a subject, in order. */
  eventsOf(subject: string): Promise<Event[]>
  stop(): Promise<void>
}

/** What the doubles of audience and messaging got, and how they answer. */
export type Neighbours = {
  /** Sign-ups that the audience applied, once each. */
  applied: ApplySignUpRequest[]
  /** Mails that messaging accepted, once each. */
  mails: SendMailRequest[]
  /** Calls that failed because the audience is down. */
  attempts: number
  isDown: boolean
  refuses: boolean
  hasSender: boolean
  /** Forgets what they got, and answers as usual. */
  reset(): void
}

/** The service in this process on the backing services of the environment, shared by the test files of the process. */
export const startTestContent = shared(() => startOwnContent())

/** The service with its own settings. */
export async function startOwnContent(settings: Record<string, string> = {}): Promise<TestContent> {
  await using onFailure = new AsyncDisposableStack()
  const keys = newKeySettings(['gateway', 'content', 'audience', 'messaging'])
  const dbName = `content-test-${new Types.ObjectId()}`
  const logger = createLogger({ service: 'content', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const neighbours = newNeighbours()
  const audience = await serveNeighbours(neighbours, readTrust(keys.audience), logger)
  onFailure.defer(() => audience.stop())
  const address = `127.0.0.1:${audience.port}`
  const environment = {
    ...process.env,
    MONGODB_DATABASE: dbName,
    TOPIC_PREFIX: `${dbName}.`,
    KAFKA_PARTITIONS: '2',
    PUBLIC_URL: 'https://rollcall.test',
    AUDIENCE_ADDRESS: address,
    MESSAGING_ADDRESS: address,
    LINK_KEYS: `test:${randomBytes(32).toString('base64')}`,
    ...keys.content,
    PORT: '0',
    LISTEN_HOST: '127.0.0.1',
    ...settings,
  }
  const config = readConfig(environment)
  const database = new Mongoose().createConnection(config.MONGODB_URL, { dbName })
  await database.asPromise()
  onFailure.defer(async () => {
    await database.dropDatabase()
    await database.close()
    await deleteTopics(config.KAFKA_BROKERS.join(), config.TOPIC_PREFIX)
  })
  const lifecycle = createLifecycle({ service: 'content', logger, graceMs: 10_000 })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const clock = { aheadMs: 0 }
  const { port } = await service.start(config, lifecycle, { now: () => Date.now() + clock.aheadMs })
  const connection = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.gateway) })
  onFailure.defer(async () => connection.close())
  const ofAudience = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.audience) })
  onFailure.defer(async () => ofAudience.close())
  const booted = onFailure.move()
  return {
    client: name => connection.client(name),
    people: ofAudience.client('rollcall.people.v1.People'),
    neighbours,
    config,
    clock,
    environment,
    db: database.db!,
    async eventsOf(subject) {
      const entries = await database
        .collection<{ event: Event | Event[] }>('outbox')
        .find()
        .sort({ at: 1, _id: 1 })
        .toArray()
      return entries.flatMap(({ event }) => event).filter(event => event.subject === subject)
    },
    stop: () => booted.disposeAsync(),
  }
}

/** The code of the refusal that a call ends with, and its path. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => toAppError(thrown),
  )
  if (!error) throw new Error('the call was not refused')
  const path = 'path' in error.details ? ` ${error.details.path}` : ''
  return `${error.code}${path}`
}

/** A page of a list. */
export type Page<T> = { docs: T[]; totalDocs: number }

const usual = { attempts: 0, isDown: false, refuses: false, hasSender: true }

function newNeighbours(): Neighbours {
  const neighbours: Neighbours = {
    ...usual,
    applied: [],
    mails: [],
    reset: () => void Object.assign(neighbours, { ...usual, applied: [], mails: [] }),
  }
  return neighbours
}

/** Serves the rpcs of audience and messaging that the service calls. */
function serveNeighbours(neighbours: Neighbours, trust: Trust, logger: Logger) {
  const signUps: Handlers<'rollcall.audience.v1.SignUps'> = {
    async applySignUp(request) {
      if (neighbours.isDown) neighbours.attempts++
      if (neighbours.isDown) throw new AppError('service.unavailable')
      if (neighbours.refuses) throw new AppError('request.missing_field', { path: 'attributes.plan' })
      if (!neighbours.applied.some(({ id }) => id === request.id)) neighbours.applied.push(request)
      return { contactId: 'c'.repeat(24) }
    },
    checkTargets: async ({ attributes, lists }) => ({
      unknownAttributes: attributes.filter(slug => slug !== 'plan'),
      unknownLists: lists.filter(id => id !== 'a'.repeat(24)),
      missingAttributes: ['plan'].filter(slug => neighbours.refuses && !attributes.includes(slug)),
    }),
  }
  const mail: Handlers<'rollcall.messaging.v1.Mail'> = {
    checkDefaultSender: async () => ({ usable: neighbours.hasSender }),
    async sendMail(request) {
      if (!neighbours.hasSender) throw new AppError('sender.no_default', { path: 'fromDefault' })
      if (!neighbours.mails.some(({ key }) => key === request.key)) neighbours.mails.push(request)
      return { id: 'd'.repeat(24) }
    },
  }
  const services = { 'rollcall.audience.v1.SignUps': signUps, 'rollcall.messaging.v1.Mail': mail }
  return serve({ services, port: 0, host: '127.0.0.1', trust, logger })
}
