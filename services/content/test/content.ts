import { type HttpBody, toAppError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'
import { type Caller, type Client, connect, newKeySettings, readTrust, serviceCaller } from '@rollcall/rpc'
import { createLifecycle, createLogger, type Event } from '@rollcall/runtime'
import { shared } from '@rollcall/testing/shared'
import { deleteTopics } from '@rollcall/testing/topics'
import { Mongoose, type mongo, Types } from 'mongoose'
import { readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'

/** A running content service for tests, with its own database. */
export type TestContent = {
  client<N extends keyof Services & string>(name: N): Client<N>
  /** The service's database. */
  db: mongo.Db
  /** Returns the events in the outbox about a subject, in order. */
  eventsOf(subject: string): Promise<Event[]>
  stop(): Promise<void>
}

/** The service in this process on the backing services of the environment, shared by the test files of the process. */
export const startTestContent = shared(() => startOwnContent())

/** The service with its own settings. */
export async function startOwnContent(settings: Record<string, string> = {}): Promise<TestContent> {
  await using onFailure = new AsyncDisposableStack()
  const keys = newKeySettings(['gateway', 'content'])
  const dbName = `content-test-${new Types.ObjectId()}`
  const logger = createLogger({ service: 'content', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const config = readConfig({
    ...process.env,
    MONGODB_DATABASE: dbName,
    TOPIC_PREFIX: `${dbName}.`,
    KAFKA_PARTITIONS: '2',
    PUBLIC_URL: 'https://rollcall.test',
    ...keys.content,
    PORT: '0',
    LISTEN_HOST: '127.0.0.1',
    ...settings,
  })
  const database = new Mongoose().createConnection(config.MONGODB_URL, { dbName })
  await database.asPromise()
  onFailure.defer(async () => {
    await database.dropDatabase()
    await database.close()
    await deleteTopics(config.KAFKA_BROKERS.join(), config.TOPIC_PREFIX)
  })
  const lifecycle = createLifecycle({ service: 'content', logger, graceMs: 10_000 })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const { port } = await service.start(config, lifecycle)
  const connection = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.gateway) })
  onFailure.defer(async () => connection.close())
  const booted = onFailure.move()
  return {
    client: name => connection.client(name),
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

/** A person of a new organization, or of the given one. */
export function testCaller(organizationId = String(new Types.ObjectId())): { caller: Caller } {
  const caller = serviceCaller('test', organizationId)
  return { caller: { ...caller, kind: 'session', userId: String(new Types.ObjectId()), userName: 'User One' } }
}

/** The JSON of an answer. */
export async function jsonOf<T>(body: Promise<HttpBody>): Promise<T> {
  return JSON.parse((await body).data.toString()) as T
}

/** The JSON of a streamed answer. */
export async function streamedJsonOf<T>(bodies: AsyncIterable<HttpBody>): Promise<T> {
  return JSON.parse(await textOf(bodies)) as T
}

/** The text of a streamed answer. */
export async function textOf(bodies: AsyncIterable<HttpBody>): Promise<string> {
  const parts: Buffer[] = []
  for await (const { data } of bodies) parts.push(data)
  return Buffer.concat(parts).toString()
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
