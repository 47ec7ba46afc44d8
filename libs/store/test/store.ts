import { randomBytes } from 'node:crypto'
import { createLogger } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { Schema, Types } from 'mongoose'
import { migrate } from '../src/coordination/migrate.ts'
import type { FieldTable } from '../src/query/fields.ts'
import { connectStore, type Store, type StoreOptions } from '../src/tenancy/connection.ts'

/** For tests: a store with its own database on the server of MONGODB_URL; `drop` removes the database and closes. */
export async function testStore(options: Partial<StoreOptions> = {}): Promise<{ store: Store; drop(): Promise<void> }> {
  const url = process.env.MONGODB_URL
  if (!url) throw new Error('MONGODB_URL is not set: run the tests by npm test')
  const dbName = options.dbName ?? `store-test-${randomBytes(6).toString('hex')}`
  const store = await connectStore({ url, dbName, logger: quiet, ...options })
  const drop = async () => {
    await dropDatabase(store.connection)
    await store.close()
  }
  return { store, drop }
}

/** A command as the driver sends it. */
export type SentCommand = { readConcern?: { level: string; afterClusterTime?: unknown }; maxTimeMS?: number } & Record<
  string,
  unknown
>

/** For tests: a store that records the commands it sends. */
export async function recordingStore() {
  const url = new URL(process.env.MONGODB_URL!)
  url.searchParams.set('monitorCommands', 'true')
  const { store, drop } = await testStore({ url: url.href })
  const commands: SentCommand[] = []
  store.connection.getClient().on('commandStarted', ({ command }) => commands.push(command as SentCommand))
  const sent = (name: string, collection: string) => commands.filter(command => command[name] === collection)
  const answered: { collection: string; name: string; document: object | undefined }[] = []
  store.connection.getClient().on('commandSucceeded', ({ commandName: name, reply }) => {
    const { ns = '', firstBatch = [] } = (reply as { cursor?: { ns: string; firstBatch: object[] } }).cursor ?? {}
    answered.push({ name, collection: ns.slice(ns.indexOf('.') + 1), document: firstBatch[0] })
  })
  /** The first documents that reads of a collection got. */
  const replies = (name: string, collection: string) =>
    answered.filter(each => each.name === name && each.collection === collection).map(({ document }) => document)
  return { store, drop, commands, sent, replies }
}

/** For tests: a silent logger. */
export const quiet = createLogger({ service: 'test', level: 'silent' })

/** For tests: a record with a field of each kind. */
export type Person = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  email: string
  emailKey: string
  name: string
  age: number | null
  active: boolean
  tags: string[]
  attributes: Record<string, unknown>
  friend: Types.ObjectId | null
  seenAt: Date | null
  position: number
  createdAt: Date
  updatedAt: Date
}

const personSchema = new Schema<Person>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    name: { type: String, default: '' },
    age: { type: Number, default: null },
    active: { type: Boolean, default: true },
    tags: { type: [String], default: [] },
    attributes: { type: Schema.Types.Mixed, default: {} },
    friend: { type: Schema.Types.ObjectId, default: null },
    seenAt: { type: Date, default: null },
    position: { type: Number, default: 0 },
    createdAt: Date,
    updatedAt: Date,
  },
  { collection: 'people', minimize: false, versionKey: false },
)
personSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
personSchema.index({ organization: 1, position: 1 })

/** For tests: the collection of the records, with its indexes. */
export async function people(store: Store) {
  const model = store.model<Person>('Person', personSchema)
  await migrate(store, quiet)
  return model
}

/** For tests: the public fields of a record. */
export const personFields: FieldTable = {
  email: { type: 'string', key: { path: 'emailKey', of: text => text.toLowerCase() } },
  name: 'string',
  age: 'number',
  active: 'boolean',
  tags: 'string[]',
  attributes: 'object',
  'attributes.city': 'string',
  'attributes.score': 'number',
  friend: 'objectId',
  seenAt: 'date',
}

/** For tests: returns a draft with a numbered email. */
export function draft(number: number, more: Partial<Person> = {}) {
  const email = `Person${number}@example.com`
  return { email, emailKey: email.toLowerCase(), name: `Person ${number}`, ...more }
}

/** For tests: returns a new organization id. */
export function newOrganization(): Types.ObjectId {
  return new Types.ObjectId()
}
