// B1: a bulk job that tags contacts by filter, through the gateway, against the bare driver: `updateMany`, and the history
// written by hand. Each service in its own process.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { BulkJobJson } from '@rollcall/protos/gen/audience-v1.ts'
import { type Db, MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { manyAddresses } from '../every-route.ts'
import { organizationSettings } from '../import/organizations.ts'
import { startStack } from '../stack.ts'
import { type Audience, fill } from './audience.bench.ts'
import { atLeast, type Figure, sideBySide } from './measure.ts'

const contactCount = Number(process.env.BENCH_CONTACTS ?? 200_000)
const ROUNDS = 2
const BATCH = 1000
const GOAL = 0.5

/** Measures both alternately, each time with another tag. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings: { ...organizationSettings, ...manyAddresses } })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    const audience = await fill(stack, db, contactCount)
    await db.collection('bare_history').createIndex({ organization: 1, person: 1, at: 1, _id: 1 })
    let number = 0
    const tagged = (tag: (name: string) => Promise<void>) => async () => {
      const startedAt = performance.now()
      await tag(`bench ${number++}`)
      return contactCount / ((performance.now() - startedAt) / 1000)
    }
    const ours = tagged(tag => tagByJob(audience, tag))
    const bare = tagged(tag => tagByHand(db, audience, tag))
    const { a, b, ratio } = await sideBySide(ours, bare, ROUNDS)
    const figure = atLeast(`B1 tag ${contactCount} contacts by filter, against the bare driver`, ratio, GOAL)
    return [{ ...figure, measured: `${figure.measured} (${Math.round(a)} / ${Math.round(b)} contacts/s)` }]
  } finally {
    await mongo.close()
    await stack.stop()
  }
}

/** Tags all contacts by a job. */
async function tagByJob({ api, count }: Audience, tag: string): Promise<void> {
  const change = { filter: {}, change: { addTags: [tag] } }
  const { jobId } = await bodyOf(api.patch<{ jobId: string }>('/api/audience/bulk', change))
  for (;;) {
    const { state, result } = await bodyOf(api.get<BulkJobJson>(`/api/audience/bulk/${jobId}`))
    if (state === 'completed') return assert.equal(result.changed, count)
    assert.notEqual(state, 'failed')
    await delay(200)
  }
}

/** Tags all contacts by one command, and writes an entry of each in batches. */
async function tagByHand(db: Db, { contact, count }: Audience, tag: string): Promise<void> {
  const { organization } = (await db.collection('contacts').findOne({ _id: new ObjectId(contact) }))!
  const at = new Date()
  const before = db.collection('contacts').find({ organization }, { projection: { tags: 1 }, batchSize: BATCH })
  const entries: object[] = []
  const write = async () => void (await db.collection('bare_history').insertMany(entries.splice(0), { ordered: false }))
  const actor = { kind: 'user', id: String(organization), name: 'Bench' }
  for await (const { _id: person, tags } of before) {
    const changes = [{ key: 'tags', from: tags, to: [...tags, tag] }]
    const entry = { organization, person, subject: 'contact', kind: 'change', type: 'contact.tags_replaced', at, actor }
    entries.push({ ...entry, data: { changes } })
    if (entries.length === BATCH) await write()
  }
  if (entries.length > 0) await write()
  const update = { $addToSet: { tags: tag }, $set: { updatedAt: at } }
  const { modifiedCount } = await db.collection('contacts').updateMany({ organization }, update)
  assert.equal(modifiedCount, count)
}
