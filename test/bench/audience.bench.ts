// L2 to L7 and P6 of the goals: the audience through the gateway, each service in its own process. The compared
// figures are those of listmonk 6.2 (Go, PostgreSQL 15) on a machine of the same kind.
import assert from 'node:assert/strict'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Db, MongoClient, ObjectId } from 'mongodb'
import { type Api, bodyOf } from '../api.ts'
import { manyAddresses } from '../every-route.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'
import { type Asked, ask } from './ask.ts'
import { atLeast, atMost, type Figure, median } from './measure.ts'
import { peakMemoryWhile } from './memory.ts'

const contactCount = Number(process.env.BENCH_CONTACTS ?? 1_000_000)
const batchSize = 5000
const attributes = { city: 'string', score: 'number' }

/** Contacts of an organization, one in twenty of them on a list. */
export type Audience = { api: Api; count: number; list: string; contact: string }

/** Measures pages, single contacts, changes and the export of a large audience. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings: { ...organizationSettings, ...manyAddresses } })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    const large = await fill(stack, db, contactCount)
    const small = await fill(stack, db, contactCount / 10)
    return [...(await pages(large)), ...(await single(large)), ...(await exports(stack, large, small))]
  } finally {
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

async function pages(audience: Audience): Promise<Figure[]> {
  const { list, count } = audience
  const filtered = (filter: object) => `/api/audience?filter=${encodeURIComponent(JSON.stringify(filter))}`
  const city = (index: number) => filtered({ 'attributes.city': `city ${index % 20}` })
  const search = (index: number) => filtered({ name: { $regex: `act ${770 + index}` } })
  const ofMillion = `of ${count}`
  const timed = async (path: string | ((index: number) => string), times: number) =>
    (await asking(audience, 1, times, index => ({ path: typeof path === 'string' ? path : path(index) }))).medianMs
  const atOnce = async (path: string, times: number) => (await asking(audience, 16, times, () => ({ path }))).perSecond
  return [
    inMs(`L2 page 1 ${ofMillion}, one at a time`, await timed('/api/audience', 200), 12),
    inRate(`L2 page 1 ${ofMillion}, 16 at once`, await atOnce('/api/audience', 1000), 270),
    inMs(`L3 last page ${ofMillion}`, await timed(`/api/audience?$page=${count / 10}`, 100), 47),
    inMs(`L4 filter that 5 % ${ofMillion} match, again`, await timed(city(0), 100), 40),
    inMs(`L4 search in names ${ofMillion}, again`, await timed(search(0), 100), 437),
    inMs(
      `L4 page 1 of a list with a twentieth ${ofMillion}`,
      await timed(`/api/audience-lists/${list}/contacts`, 100),
      173,
    ),
  ]
}

async function single(audience: Audience): Promise<Figure[]> {
  const path = `/api/audience/${audience.contact}`
  const rate = async (clients: number, count: number, make: (index: number) => Asked) =>
    (await asking(audience, clients, count, make)).perSecond
  const create = (index: number): Asked => ({
    method: 'POST',
    path: '/api/audience',
    body: { email: `new${index}@example.com`, name: `New ${index}`, attributes: { city: 'Oslo' } },
  })
  const update = (index: number): Asked => ({ method: 'PATCH', path, body: { name: `Name ${index}` } })
  return [
    inRate('L6 one contact by id, one at a time', await rate(1, 1000, () => ({ path })), 2400),
    inRate('L6 one contact by id, 16 at once', await rate(16, 3000, () => ({ path })), 6500),
    inRate('L7 create a contact, 16 at once', await rate(16, 1000, create), 1560),
    inRate('L7 update a contact, 16 at once', await rate(16, 1000, update), 1040),
  ]
}

async function exports(stack: TestStack, large: Audience, small: Audience): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-export-'))
  try {
    const figures: Figure[] = []
    for (const [name, path] of [
      ['export', '/api/audience/export'],
      ['pagination=false', '/api/audience?pagination=false'],
    ] as const) {
      const file = join(folder, 'exported')
      const seconds = await elapsed(() => download(large, path, file))
      const plainSeconds = await overTwoHops(file)
      const { measured, ...figure } = atLeast(`P6 ${name} of ${large.count}`, plainSeconds / seconds, 0.5)
      figures.push({ ...figure, measured: `${measured} (${seconds.toFixed(1)} s beside ${plainSeconds.toFixed(1)} s)` })
      if (name === 'export')
        figures.push(inRate(`L5 export of ${large.count}`, large.count / seconds, 280_000, 'rows/s'))
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

async function download({ api }: Audience, path: string, file: string): Promise<void> {
  const answer = await answerOf(new URL(path, api.url), api.headers)
  assert.equal(answer.statusCode, 200)
  await pipeline(answer, createWriteStream(file))
}

/** Measures the same bytes from a plain server through a plain proxy. */
async function overTwoHops(file: string): Promise<number> {
  await using servers = new AsyncDisposableStack()
  const listening = async (server: Server): Promise<URL> => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    servers.defer(() => void server.close())
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  const origin = await listening(createServer((_, response) => void pipeline(createReadStream(file), response)))
  const proxy = await listening(
    createServer((_, response) => void answerOf(origin).then(answer => pipeline(answer, response))),
  )
  return await elapsed(async () => pipeline(await answerOf(proxy), createWriteStream('/dev/null')))
}

function answerOf(url: URL, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { headers }, resolve).on('error', reject))
}

/** Sends requests from concurrent clients, each request from another address; throws on any answer without success. */
async function asking({ api }: Audience, clients: number, times: number, make: (index: number) => Asked) {
  let next = 0
  const took: number[] = []
  const client = async () => {
    for (let index = next++; index < times; index = next++) {
      const startedAt = performance.now()
      const asked = make(index)
      const status = await ask(api, asked, index)
      if (status >= 300) next = times // the others stop too
      assert.ok(status < 300, `${asked.method ?? 'GET'} ${asked.path} answered ${status}`)
      took.push(performance.now() - startedAt)
    }
  }
  await ask(api, { path: '/api/audience' }, times) // connects
  const seconds = await elapsed(async () => {
    const ends = await Promise.allSettled(Array.from({ length: clients }, client))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  })
  return { medianMs: median(took), perSecond: times / seconds }
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

function inMs(name: string, measured: number, goal: number): Figure {
  return { name, measured: `${measured.toFixed(1)} ms`, goal: `≤ ${goal} ms`, ok: measured <= goal }
}

function inRate(name: string, measured: number, goal: number, unit = 'req/s'): Figure {
  return { name, measured: `${Math.round(measured)} ${unit}`, goal: `≥ ${goal} ${unit}`, ok: measured >= goal }
}
