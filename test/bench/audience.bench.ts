// L2 to L7 and P6 of the goals: the audience through the gateway, each service in its own process. The goals
// follow from listmonk 6.2 (Go, PostgreSQL 15) on a machine of the same kind. Requests come from a process of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Db, MongoClient, ObjectId } from 'mongodb'
import { type Api, bodyOf } from '../api.ts'
import { manyAddresses } from '../every-route.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'
import { ask } from './ask.ts'
import { startLoader } from './http-load.ts'
import { atLeast, atMost, type Figure, median, sideBySide } from './measure.ts'
import { peakMemoryWhile } from './memory.ts'
import { costOf, cpuOfStack, describeCost, loadOnce, type Round, type Side } from './side.ts'

const contactCount = Number(process.env.BENCH_CONTACTS ?? 1_000_000)
const batchSize = 5000
const WARM_UP_REQUESTS = 10_000
const WARM_UP_MS = 4000
const LONGEST_WARM_UP_MS = 30_000
const ROUND_MS = 10_000
const attributes = { city: 'string', score: 'number' }

/** Contacts of an organization, one in twenty of them on a list. */
export type Audience = { api: Api; count: number; list: string; contact: string }

/** Measures pages, single contacts, changes and the export of a large audience. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings: { ...organizationSettings, ...manyAddresses } })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  const loader = startLoader()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    const large = await fill(stack, db, contactCount)
    const small = await fill(stack, db, contactCount / 10)
    const measuring = { audience: large, loader, cpu: await cpuOfStack(stack, ['gateway', 'audience']) }
    const exported = await exports(stack, db, large, small)
    return [...exported, ...(await pages(measuring)), ...(await single(measuring))]
  } finally {
    loader.stop()
    await mongo.close()
    await stack.stop()
  }
}

/** Stores contacts as an import does, but in seconds. */
export async function fill(stack: TestStack, db: Db, count: number): Promise<Audience> {
  const api = await newOrganization(stack, attributes)
  const me = await bodyOf(api.get<{ organization: { id: string } }>('/api/auth/me'))
  const organization = new ObjectId(me.organization.id)
  const [list, at, job] = [new ObjectId(), new Date(), new ObjectId()]
  const createdBy = { kind: 'import', id: String(job), name: 'CSV import' }
  const contactOf = (position: number) => ({
    _id: new ObjectId(),
    organization,
    email: `Contact${position}@example.com`,
    emailKey: `contact${position}@example.com`,
    name: `Contact ${position}`,
    attributes: { city: `city ${(position * 7919) % 20}`, score: position % 1000 },
    tags: [`tag ${position % 10}`],
    unsubscribed: position % 17 === 0,
    unsubscribedAt: null,
    blocked: false,
    blockedAt: null,
    blockedReason: null,
    user: null,
    source: 'import',
    importJob: job,
    emailStatus: 'unknown',
    createdBy,
    position,
    createdAt: at,
    updatedAt: at,
    ...(position % 20 === 0 && { lists: [list] }),
  })
  let contact = ''
  for (let from = 0; from < count; from += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => contactOf(from + index + 1))
    await db.collection('contacts').insertMany(batch, { ordered: false })
    const members = batch
      .filter(({ lists }) => lists)
      .map(({ _id, position }) => ({
        organization,
        list,
        contact: _id,
        position: position / 20,
        addedAt: at,
        addedBy: createdBy,
        source: 'import',
      }))
    await db.collection('memberships').insertMany(members, { ordered: false })
    contact = String(batch[0]!._id)
  }
  const memberCount = Math.floor(count / 20)
  const register = { organization, changes: 1, at, holes: {} }
  await db.collection('positions').insertMany([
    { ...register, name: 'contacts', last: count, total: count },
    { ...register, name: `list ${list}`, last: memberCount, total: memberCount },
  ])
  const counts = { memberCount, activeCount: memberCount }
  const named = { name: 'List', nameKey: 'list', description: '', tags: [], archived: false }
  await db
    .collection('lists')
    .insertOne({ _id: list, organization, ...named, ...counts, createdBy, createdAt: at, updatedAt: at })
  return { api, count, list: String(list), contact }
}

/** What measures requests of a large audience: the loader, and the CPU time of the processes on their way. */
type Measuring = { audience: Audience; loader: ReturnType<typeof startLoader>; cpu: Side['cpu'] }
/** A request of the loader. */
type Asked = { method?: string; path: string; body?: object }

/** Loads one request repeatedly from `connections` clients, after a warm-up of 16. */
async function loaded(
  { audience, loader, cpu }: Measuring,
  asked: Asked,
  connections: readonly number[],
): Promise<Round[]> {
  const { 'x-forwarded-for': _, ...headers } = audience.api.headers // each connection has an address of its own
  const { path, ...rest } = asked
  const side: Side = { port: Number(new URL(audience.api.url).port), paths: [path], headers, cpu, ...rest }
  const until = performance.now() + LONGEST_WARM_UP_MS
  for (let answered = 0; answered < WARM_UP_REQUESTS && performance.now() < until; )
    answered += (await loadOnce(loader, side, { connections: 16, ms: WARM_UP_MS })).answered
  const rounds: Round[] = []
  for (const count of connections) rounds.push(await loadOnce(loader, side, { connections: count, ms: ROUND_MS }))
  return rounds
}

async function pages(measuring: Measuring): Promise<Figure[]> {
  const { audience } = measuring
  const { list, count } = audience
  const filtered = (filter: object) => `/api/audience?filter=${encodeURIComponent(JSON.stringify(filter))}`
  const ofMillion = `of ${count}`
  const ofList = `/api/audience-lists/${list}/contacts`
  const firstMs = (await elapsed(() => ask(audience.api, { path: ofList }, 1))) * 1000
  const [one, many] = await loaded(measuring, { path: '/api/audience' }, [1, 16])
  const [last] = await loaded(measuring, { path: `/api/audience?$page=${count / 10}` }, [1])
  const [city] = await loaded(measuring, { path: filtered({ 'attributes.city': 'city 0' }) }, [1])
  const [search] = await loaded(measuring, { path: filtered({ name: { $regex: 'act 770' } }) }, [1])
  const [members] = await loaded(measuring, { path: ofList }, [1])
  const listed = inMs(`L4 page 1 of a list with a twentieth ${ofMillion}, for the first time`, firstMs, 15)
  return [
    timeOf(`L2 page 1 ${ofMillion}, one at a time`, one!, 3),
    rateOf(`L2 page 1 ${ofMillion}, 16 at once`, many!, 1500),
    timeOf(`L3 last page ${ofMillion}`, last!, 10),
    timeOf(`L4 filter that 5 % ${ofMillion} match, again`, city!, 80),
    timeOf(`L4 search in names ${ofMillion}, again`, search!, 200),
    { ...listed, measured: `${listed.measured}; again ${describe(members!)}` },
  ]
}

async function single(measuring: Measuring): Promise<Figure[]> {
  const path = `/api/audience/${measuring.audience.contact}`
  const [one, many] = await loaded(measuring, { path }, [1, 16])
  const contact = { email: 'new{n}@example.com', name: 'New {n}', attributes: { city: 'Oslo' } }
  const [created] = await loaded(measuring, { method: 'POST', path: '/api/audience', body: contact }, [16])
  const [updated] = await loaded(measuring, { method: 'PATCH', path, body: { name: 'Name {n}' } }, [16])
  return [
    rateOf('L6 one contact by id, one at a time', one!, 700),
    rateOf('L6 one contact by id, 16 at once', many!, 3000),
    rateOf('L7 create a contact, 16 at once', created!, 1200),
    rateOf('L7 update a contact, 16 at once', updated!, 1200),
  ]
}

async function exports(stack: TestStack, db: Db, large: Audience, small: Audience): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-export-'))
  const cpu = await cpuOfStack(stack, ['gateway', 'audience'])
  try {
    const figures: Figure[] = []
    for (const [name, path] of [
      ['export', '/api/audience/export'],
      ['pagination=false', '/api/audience?pagination=false'],
    ] as const) {
      const file = join(folder, 'exported')
      const rate = async (work: () => Promise<unknown>) => large.count / (await elapsed(work))
      let cost: Record<string, number> = {}
      const ours = async () => {
        const before = await cpu()
        const perSecond = await rate(() => download(large, path, file))
        cost = costOf(before, await cpu(), large.count)
        return perSecond
      }
      const { a, b, ratio } = await sideBySide(ours, () => rate(() => drain(db, large)), 3)
      const rates = `${Math.round(a)} beside ${Math.round(b)} rows/s, ${describeCost(cost)} a row`
      const figure = atLeast(`P6 ${name} of ${large.count}, beside a raw cursor`, ratio, 0.7)
      figures.push({ ...figure, measured: `${figure.measured} (${rates})` })
      if (name === 'export') figures.push(rowsOf(`L5 export of ${large.count}`, a, 200_000, cost))
      figures.push(await firstByte(`${name} of ${large.count}, first byte`, large, path))
      for (const service of ['audience', 'gateway'] as const) {
        const pid = stack.instances(service)[0]!.pid()
        const less = await peakMemoryWhile(pid, () => download(small, path, file))
        const more = await peakMemoryWhile(pid, () => download(large, path, file))
        const memory = atMost(`P6 ${name}, peak memory of the ${service}, ten times the rows`, more / less, 1.2)
        figures.push({ ...memory, measured: `${memory.measured} (${Math.round(more / 2 ** 20)} MiB)` })
      }
    }
    return figures
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Reads the records of an audience by a raw cursor: what the database can give to one process. */
async function drain(db: Db, { contact, count }: Audience): Promise<void> {
  const contacts = db.collection('contacts')
  const { organization } = (await contacts.findOne({ _id: new ObjectId(contact) }))!
  let read = 0
  for await (const _ of contacts.find({ organization }, { raw: true })) read++
  assert.ok(read >= count)
}

/** Measures the time to the first byte of an answer. */
async function firstByte(name: string, { api }: Audience, path: string): Promise<Figure> {
  const times: number[] = []
  for (let index = 0; index < 5; index++) {
    const seconds = await elapsed(async () => {
      const answer = await answerOf(new URL(path, api.url), api.headers)
      await once(answer, 'readable')
      answer.destroy()
    })
    times.push(seconds * 1000)
  }
  return inMs(name, median(times), 50)
}

async function download({ api }: Audience, path: string, file: string): Promise<void> {
  const answer = await answerOf(new URL(path, api.url), api.headers)
  assert.equal(answer.statusCode, 200)
  await pipeline(answer, createWriteStream(file))
}

function answerOf(url: URL, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { headers }, resolve).on('error', reject))
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

function inMs(name: string, measured: number, goal: number): Figure {
  return { name, measured: `${measured.toFixed(1)} ms`, goal: `≤ ${goal} ms`, ok: measured <= goal }
}

/** The time of half of the answers. */
function timeOf(name: string, round: Round, goal: number): Figure {
  return { ...inMs(name, round.p50Ms, goal), measured: describe(round) }
}

function rateOf(name: string, round: Round, goal: number): Figure {
  const ok = round.perSecond >= goal
  return { name, measured: describe(round), goal: `≥ ${goal} req/s`, ok }
}

function rowsOf(name: string, rate: number, goal: number, cost: Record<string, number>): Figure {
  const measured = `${Math.round(rate)} rows/s (${describeCost(cost)} a row)`
  return { name, measured, goal: `≥ ${goal} rows/s`, ok: rate >= goal }
}

function describe({ p50Ms, p99Ms, perSecond, cost, clientCost }: Round): string {
  const costs = describeCost({ ...cost, client: clientCost })
  return `${Math.round(perSecond)} req/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms (${costs})`
}
