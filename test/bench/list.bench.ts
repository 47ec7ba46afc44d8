import { randomBytes } from 'node:crypto'
import { createLogger } from '@rollcall/runtime'
import { connectStore, type FieldTable, migrate, positions, runList, scoped } from '@rollcall/store'
import fc from 'fast-check'
import { type Model, Schema, Types } from 'mongoose'
import { atLeast, atMost, type Figure, sideBySide } from './measure.ts'

/** Lists at a million contacts: P11 (pages with exact totals), P12 (serialisation). */

const CONTACTS = 1_000_000
const BATCH = 5000
const PAGE_SIZE = 10

type Contact = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  position: number
  email: string
  emailKey: string
  name: string
  attributes: Record<string, unknown>
  tags: string[]
  unsubscribed: boolean
  blocked: boolean
  source: string
  createdAt: Date
  updatedAt: Date
}

const schema = new Schema<Contact>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    position: { type: Number, required: true },
    email: String,
    emailKey: String,
    name: String,
    attributes: Schema.Types.Mixed,
    tags: [String],
    unsubscribed: Boolean,
    blocked: Boolean,
    source: String,
    createdAt: Date,
    updatedAt: Date,
  },
  { collection: 'contacts', versionKey: false },
)
schema.index({ organization: 1, position: 1 })
schema.index({ organization: 1, emailKey: 1 }, { unique: true })

const fields: FieldTable = {
  email: { type: 'string', key: { path: 'emailKey', of: text => text.toLowerCase() } },
  name: 'string',
  attributes: 'object',
  'attributes.city': 'string',
  'attributes.score': 'number',
  tags: 'string[]',
  unsubscribed: 'boolean',
  blocked: 'boolean',
  source: 'string',
}

type Bench = { store: Awaited<ReturnType<typeof connectStore>>; model: Model<Contact> }

export async function run(): Promise<Figure[]> {
  const store = await connectStore({
    url: process.env.MONGODB_URL!,
    dbName: `bench-list-${randomBytes(4).toString('hex')}`,
    logger: createLogger({ service: 'bench', level: 'error' }),
    timeoutMs: 120_000,
  })
  const model = store.model<Contact>('Contact', schema)
  try {
    await migrate(store, createLogger({ service: 'bench', level: 'error' }))
    const bench = { store, model }
    const organization = new Types.ObjectId()
    await fill(bench, organization, CONTACTS)
    return [...(await pages(bench, organization)), await serialisation(bench, organization)]
  } finally {
    await store.connection.dropDatabase()
    await store.close()
  }
}

/** Contacts as an import makes them, with their positions. */
async function fill({ store, model }: Bench, organization: Types.ObjectId, count: number): Promise<void> {
  const register = positions(store, organization, 'contacts')
  const { first, at } = await store.transaction(session => register.take(session, count))
  const contactOf = (position: number) => ({
    _id: new Types.ObjectId(),
    organization,
    position,
    email: `Contact${position}@example.com`,
    emailKey: `contact${position}@example.com`,
    name: `Contact ${position}`,
    attributes: { city: `city ${(position * 7919) % 20}`, score: position % 1000 },
    tags: [`tag ${position % 10}`],
    unsubscribed: position % 17 === 0,
    blocked: false,
    source: 'import',
    createdAt: at,
    updatedAt: at,
  })
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => contactOf(first + from + index))
    await model.collection.insertMany(batch, { ordered: false })
  }
}

/** Returns the average duration of the task in milliseconds. */
async function timed(task: () => Promise<unknown>, times: number): Promise<number> {
  const start = performance.now()
  for (let time = 0; time < times; time++) await task()
  return (performance.now() - start) / times
}

async function pages({ store, model }: Bench, organization: Types.ObjectId): Promise<Figure[]> {
  const scope = scoped(model, organization)
  const page = (number: number) => () =>
    runList({
      scope,
      fields,
      query: { page: number, limit: PAGE_SIZE },
      positions: positions(store, organization, 'contacts'),
    })
  const last = CONTACTS / PAGE_SIZE
  const uncounted = async () => {
    const position = { $gt: CONTACTS - PAGE_SIZE, $lte: CONTACTS }
    JSON.stringify(
      await scope.aggregate([{ $match: { position } }, { $sort: { position: -1 } }, { $limit: PAGE_SIZE }]),
    )
  }
  const versus = (task: () => Promise<unknown>, other: () => Promise<unknown>) =>
    sideBySide(
      () => timed(task, 200),
      () => timed(other, 200),
      7,
    )

  const counted = await versus(page(1), uncounted)
  const lastPage = await versus(page(last), page(1))
  const middlePage = await versus(page(last / 2), page(1))
  return [
    withTimes('P11 page 1 of 1M with its total, against the same without', counted, 1.3),
    withTimes('P11 last page of 1M, against page 1', lastPage, 3),
    withTimes('P11 middle page of 1M, against page 1', middlePage, 3),
  ]
}

function withTimes(name: string, { a, b, ratio }: { a: number; b: number; ratio: number }, goal: number): Figure {
  const figure = atMost(name, ratio, goal)
  return { ...figure, measured: `${figure.measured} (${a.toFixed(2)} / ${b.toFixed(2)} ms)` }
}

/** Measures the CPU time of the service for a page, without that of the database. */
async function serialisation({ store, model }: Bench, organization: Types.ObjectId): Promise<Figure> {
  const scope = scoped(model, organization)
  const limit = 1000
  const ours = () => runList({ scope, fields, query: { limit }, positions: positions(store, organization, 'contacts') })
  const hydrated = async () => {
    const range = { organization, position: { $gt: CONTACTS - limit, $lte: CONTACTS } }
    return Buffer.from(JSON.stringify({ docs: await model.find(range).sort({ position: -1 }).limit(limit) }))
  }
  const { a, b, ratio } = await sideBySide(
    () => busy(hydrated, 20),
    () => busy(ours, 20),
    7,
  )
  const figure = atLeast('P12 a page of 1,000, against hydrated Mongoose + JSON.stringify', ratio, 1.6)
  return { ...figure, measured: `${figure.measured} (${a.toFixed(1)} / ${b.toFixed(1)} ms of CPU)` }
}

/** Returns the average CPU time of the task in milliseconds. */
async function busy(task: () => Promise<unknown>, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let time = 0; time < times; time++) await task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / times
}

/** Filters of every kind that the check accepts. */
export function anyFilter(): fc.Arbitrary<object> {
  const text = fc.constantFrom('Contact 77', 'city 3', 'tag 4', 'a', 'import')
  const condition = fc.oneof(
    fc
      .tuple(fc.constantFrom('name', 'attributes.city', 'source', 'tags'), text)
      .map(([field, value]) => ({ [field]: value })),
    fc
      .tuple(fc.constantFrom('$gt', '$lte', '$ne'), fc.nat(1000))
      .map(([operator, value]) => ({ 'attributes.score': { [operator]: value } })),
    fc
      .tuple(fc.constantFrom('name', 'attributes.city'), fc.constantFrom('^Con', '77', '[0-9]+$'))
      .map(([field, $regex]) => ({ [field]: { $regex } })),
    fc.boolean().map(unsubscribed => ({ unsubscribed })),
    fc.constantFrom('unsubscribed', 'name').map(field => ({ [field]: { $exists: true } })),
  )
  return fc.oneof(
    condition,
    fc.array(condition, { minLength: 2, maxLength: 4 }).map($or => ({ $or })),
    fc.array(condition, { minLength: 2, maxLength: 4 }).map($and => ({ $and })),
  )
}

/** The filters that cost most. */
export function worstFilters(): object[] {
  const pattern = { $regex: '[0-9].*x$', $options: 'i' }
  const items = Array.from({ length: 500 }, (_, index) => `no such name ${index}`.slice(0, 20))
  return [
    { name: pattern },
    { $or: Array.from({ length: 3 }, (_, index) => ({ name: { ...pattern, $regex: `[0-9].*x${index}$` } })) },
    {
      $nor: Array.from({ length: 3 }, (_, index) => ({ email: { ...pattern, $regex: `[0-9].*x${index}$` } })),
    },
    { $and: ['[0-9].*[x-z]$', '^[a-z].*[0-9].*[q-s]', '[^x]{1,20}!'].map(source => ({ email: { $regex: source } })) },
    { $or: Array.from({ length: 49 }, (_, index) => ({ name: `nobody ${index}` })) },
    { $and: Array.from({ length: 24 }, (_, index) => ({ name: { $ne: `nobody ${index}` } })) },
    { $or: Array.from({ length: 24 }, (_, index) => ({ name: { $gt: `Contact 9${index}` } })) },
    {
      $nor: Array.from({ length: 16 }, (_, index) => ({ email: { $gt: `contact${index}`, $lt: `contact${index}0` } })),
    },
    { name: { $in: items } },
    { name: { $nin: items } },
    { tags: { $all: items } },
    { email: { $regex: '[^x]{1,20}!', $options: 'i' } },
    { name: { $regex: String.raw`\w{1,20}!` } },
  ]
}
