// P10 of the goals, the part of the audience: batches of an import beside a bare upsert loop on the same server.
import assert from 'node:assert/strict'
import { eventPublishers } from '@rollcall/contract'
import { connect, newKeySettings, readTrust, serviceCaller } from '@rollcall/rpc'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { type Collection, MongoClient, ObjectId } from 'mongodb'
import { readConfig } from '../../services/audience/src/config.ts'
import { service as audience } from '../../services/audience/src/service.ts'
import { atLeast, type Figure, sideBySide } from './measure.ts'

const batchSize = 1000
const rowCount = Number(process.env.BENCH_ROWS ?? 100_000)
const rounds = 3
const logger = createLogger({ service: 'bench', level: 'warn', destination: { write: line => console.error(line) } })

type Audience = Awaited<ReturnType<typeof startForBench>>
type Row = { email: string; name: string; tags: string[]; attributes: Record<string, string | number> }

/** Measures how many rows a second batches bring into an organization: new ones, the same again, all changed. */
export async function run(): Promise<Figure[]> {
  const { MONGODB_URL: url, KAFKA_BROKERS } = process.env
  assert(url && KAFKA_BROKERS, 'the backing services are set by the runner')
  const dbName = `bench-${new ObjectId()}`
  const mongo = await new MongoClient(url).connect()
  const audience = await startForBench(url, KAFKA_BROKERS, dbName)
  const bare = mongo.db(dbName).collection('bare')
  await bare.createIndex({ organization: 1, emailKey: 1 }, { unique: true })
  try {
    const measure = async (variant: number, organization: () => ObjectId) => {
      const ours = () => applyAll(audience, String(organization()), variant)
      const theirs = () => upsertAll(bare, organization(), variant)
      return sideBySide(
        () => rate(ours),
        () => rate(theirs),
        rounds,
      )
    }
    const fresh = await measure(0, () => new ObjectId())
    const known = new ObjectId()
    const again = await measure(0, () => known)
    let change = 0
    const changed = await sideBySide(
      () => rate(() => applyAll(audience, String(known), ++change)),
      () => rate(() => upsertAll(bare, known, ++change)),
      rounds,
    )
    return [
      figure('P10 batches, new rows', fresh),
      figure('P10 batches, the same rows again', again),
      figure('P10 batches, known rows that changed', changed),
    ]
  } finally {
    await audience.stop()
    await mongo.db(dbName).dropDatabase()
    await mongo.close()
  }
}

function figure(name: string, { a, b, ratio }: { a: number; b: number; ratio: number }): Figure {
  const { measured, ...rest } = atLeast(name, ratio, 1)
  return { ...rest, measured: `${measured} (${Math.round(a)} beside ${Math.round(b)} rows/s)` }
}

/** Two batches in flight, as the import job sends them. */
async function applyAll({ batches, attributes }: Audience, organizationId: string, variant: number): Promise<void> {
  await defineAttributes(attributes, organizationId)
  const jobId = String(new ObjectId())
  const caller = serviceCaller('import', organizationId)
  const under = new Set<Promise<unknown>>()
  for (const [number, rows] of makeBatches(variant).entries()) {
    const wire = rows.map(({ attributes, ...row }, index) => ({
      ...row,
      row: number * batchSize + index + 1,
      attributes: attributes,
      clearTags: false,
    }))
    const options = { duplicateStrategy: 'update', tags: [], listIds: [] }
    const call = batches.applyBatch(
      { jobId, number, rows: wire, ...options },
      { caller, deadline: Date.now() + 60_000 },
    )
    under.add(call)
    void call.finally(() => under.delete(call))
    if (under.size > 1) await Promise.race(under)
  }
  await Promise.all(under)
}

async function defineAttributes(attributes: Audience['attributes'], organizationId: string): Promise<void> {
  const caller = { ...serviceCaller('bench', organizationId), kind: 'session' as const }
  for (const [slug, type] of [
    ['company', 'string'],
    ['age', 'number'],
  ] as const) {
    const definition = attributes.createAttribute({ name: slug, slug, type, options: [] }, { caller })
    await definition.catch((error: { code: string }) => assert.equal(error.code, 'record.duplicate')) // there since the last round
  }
}

async function upsertAll(bare: Collection, organization: ObjectId, variant: number) {
  for (const rows of makeBatches(variant)) {
    const at = new Date()
    const writes = rows.map(({ tags, attributes, ...row }) => {
      const emailKey = row.email.toLowerCase()
      const values = Object.fromEntries(
        Object.entries(attributes).map(([slug, value]) => [`attributes.${slug}`, value]),
      )
      return {
        updateOne: {
          filter: { organization, emailKey },
          update: {
            $set: { ...row, ...values, updatedAt: at },
            $addToSet: { tags: { $each: tags } },
            $setOnInsert: {
              createdAt: at,
              source: 'import',
              unsubscribed: false,
              blocked: false,
              emailStatus: 'unknown',
            },
          },
          upsert: true,
        },
      }
    })
    await bare.bulkWrite(writes, { ordered: false })
  }
}

async function rate(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return rowCount / ((performance.now() - startedAt) / 1000)
}

function makeBatches(variant: number): Row[][] {
  return Array.from({ length: Math.ceil(rowCount / batchSize) }, (_, batch) =>
    Array.from({ length: batchSize }, (_, index) => {
      const number = batch * batchSize + index
      return {
        email: `Person.${number}@example.com`,
        name: `Person Number ${number}`,
        tags: ['customer', `group ${number % 10}`],
        attributes: { company: `Company ${number % 100}`, age: (number % 90) + variant },
      }
    }),
  )
}

async function startForBench(url: string, brokers: string, dbName: string) {
  const keys = newKeySettings(['audience', 'gateway', 'import'])
  const lifecycle = createLifecycle({ service: 'audience', logger })
  const config = readConfig({
    LOG_LEVEL: 'warn',
    MONGODB_URL: url,
    MONGODB_DATABASE: dbName,
    KAFKA_BROKERS: brokers,
    ...Object.fromEntries(eventPublishers.map(name => [`${name.toUpperCase()}_ADDRESS`, '127.0.0.1:1'])), // not called
    REDIS_QUEUE_URL: 'redis://127.0.0.1:1', // not called
    ERASURE_KEYS: `bench:${'a'.repeat(43)}`,
    TOPIC_PREFIX: `${dbName}.`,
    ...keys.audience,
  })
  const { port } = await audience.start(config, lifecycle)
  const address = `127.0.0.1:${port}`
  const ofImport = connect({ address, trust: readTrust(keys.import) })
  const connection = connect({ address, trust: readTrust(keys.gateway) })
  const batches = ofImport.client('rollcall.audience.v1.Batches')
  const attributes = connection.client('rollcall.audience.v1.Attributes')
  return {
    batches,
    attributes,
    stop: async () => {
      ofImport.close()
      connection.close()
      await lifecycle.stop('bench over')
    },
  }
}
