// Work without a goal of its own: signing in, making tokens, a list of 100,000 by filter, a timeline of 100,000 entries. Each
// service in its own process.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Db, MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { organizationSettings } from '../import/organizations.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type Audience, fill } from './audience.bench.ts'
import { startLoader } from './http-load.ts'
import type { Figure } from './measure.ts'
import { costOf, cpuOfStack, describeCost, loadOnce, type Round, type Side } from './side.ts'

const CONTACTS = Number(process.env.BENCH_CONTACTS ?? 100_000)
const ENTRIES = CONTACTS
const BATCH = 5000
const WARM_UP_MS = 5000
const ROUND_MS = 10_000
/** Below the limit of an address for signing in. */
const SIGN_INS = 15
const settings = { ...organizationSettings, TOKENS_PER_ORGANIZATION: '1000000' }

type Loader = ReturnType<typeof startLoader>

export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  const loader = startLoader()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    const audience = await fill(stack, db, CONTACTS)
    return [
      ...(await credentials(stack, loader)),
      await listByFilter(stack, audience),
      ...(await timeline(stack, db, audience, loader)),
    ]
  } finally {
    loader.stop()
    await mongo.close()
    await stack.stop()
  }
}

/** Measures signing in, which hashes a password, and making tokens. */
async function credentials(stack: TestStack, loader: Loader): Promise<Figure[]> {
  const { port } = stack.instances('gateway')[0]!
  const cpu = await cpuOfStack(stack, ['gateway', 'identity'])
  const { 'x-forwarded-for': _, ...headers } = stack.owner.headers
  const signIn: Side = { port, paths: ['/api/auth/login'], method: 'POST', body: OWNER, cpu }
  const make: Side = { port, paths: ['/api/tokens'], method: 'POST', body: { name: 'token {n}' }, headers, cpu }
  const signedIn = await warmed(loader, signIn, SIGN_INS)
  const made = await warmed(loader, make)
  return [figureOf('Sign-in, 16 at once', signedIn), figureOf('Token made, 16 at once', made)]
}

/** Measures adding all contacts to a new list by a filter. */
async function listByFilter(stack: TestStack, { api, count }: Audience): Promise<Figure> {
  const cpu = await cpuOfStack(stack, ['gateway', 'audience'])
  const { id } = await bodyOf(api.post<{ id: string }>('/api/audience-lists', { name: 'All of them' }), 201)
  const before = await cpu()
  const startedAt = performance.now()
  const { jobId } = await bodyOf(api.post<{ jobId: string }>(`/api/audience-lists/${id}/contacts`, { filter: {} }), 202)
  let state = ''
  while (state !== 'completed') {
    await delay(100)
    state = (await bodyOf(api.get<{ state: string }>(`/api/audience/bulk/${jobId}`))).state
    assert.notEqual(state, 'failed')
  }
  const seconds = (performance.now() - startedAt) / 1000
  const cost = costOf(before, await cpu(), count)
  const { memberCount } = await bodyOf(api.get<{ memberCount: number }>(`/api/audience-lists/${id}`))
  assert.equal(memberCount, count)
  const measured = `${Math.round(count / seconds)} contacts/s, ${seconds.toFixed(1)} s (${describeCost(cost)} a contact)`
  return { name: `List of ${count} by filter`, measured, goal: '-', ok: true }
}

/** Measures pages of the timeline of one contact. */
async function timeline(stack: TestStack, db: Db, { api, contact }: Audience, loader: Loader): Promise<Figure[]> {
  const person = new ObjectId(contact)
  const { organization } = (await db.collection('contacts').findOne({ _id: person }))!
  const actor = { kind: 'user', id: String(organization), name: 'User One' }
  const shared = { organization, person, subject: 'contact', kind: 'change', type: 'contact.updated', actor }
  const startedAt = Date.now() - ENTRIES * 1000
  for (let from = 0; from < ENTRIES; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, ENTRIES - from) }, (_, index) => {
      const changes = [{ key: 'name', from: `Name ${from + index}`, to: `Name ${from + index + 1}` }]
      return { ...shared, at: new Date(startedAt + (from + index) * 1000), data: { changes } }
    })
    await db.collection('history').insertMany(entries, { ordered: false })
  }
  const { 'x-forwarded-for': _, ...headers } = api.headers
  const cpu = await cpuOfStack(stack, ['gateway', 'audience'])
  const figures: Figure[] = []
  for (const [name, page] of [
    ['page 1', 1],
    ['last page', ENTRIES / 10],
  ] as const) {
    const paths = [`/api/audience/${contact}/timeline?$page=${page}`]
    const side = { port: stack.instances('gateway')[0]!.port, paths, headers, cpu }
    await loadOnce(loader, side, { connections: 1, ms: WARM_UP_MS })
    const round = await loadOnce(loader, side, { connections: 1, ms: ROUND_MS })
    figures.push(figureOf(`Timeline of ${ENTRIES} entries, ${name}, one at a time`, round))
  }
  return figures
}

async function warmed(loader: Loader, side: Side, perAddress?: number): Promise<Round> {
  const options = { connections: 16, ...(perAddress !== undefined && { perAddress }) }
  await loadOnce(loader, side, { ...options, ms: WARM_UP_MS })
  return loadOnce(loader, side, { ...options, ms: ROUND_MS })
}

function figureOf(name: string, { perSecond, p50Ms, p99Ms, cost }: Round): Figure {
  const times = `${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
  return { name, measured: `${times} (${describeCost(cost)})`, goal: '-', ok: true }
}
