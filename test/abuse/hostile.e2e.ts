import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Route } from '@rollcall/contract'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import express, { type ErrorRequestHandler } from 'express'
import fc from 'fast-check'
import { checkAnswer } from '../answers.ts'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { routes } from '../every-route.ts'
import { counted, seed } from '../soak.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type HostileRequest, hostileRequests, type Loot, learn, meantFor, noLoot } from './hostile.ts'

/** S1 of the goals. */
const requests = counted(600, 1_000_000)
/** Delay before a request with 503 is repeated. */
const pauseMs = 1000
const parallel = 8
/** Interval, in requests, of checks that the attacker's credentials still work. */
const round = 100
/** A word in all records of the other organization, and in nothing else. */
const foreign = 'ofanotherone'
const secrets = ['$argon2', '"passwordHash":', '"hash":', OWNER.password, foreign]

/** An organization, its owner's session and token, and what is known of it. */
type Organization = { api: Api; credentials: string[]; loot: Loot }
type Tally = { sent: number; statuses: Map<number, number>; violations: string[] }

describe('hostile requests', () => {
  let stack: TestStack
  let mailgun: TestMailgun
  let victim: Organization
  const settled: Organization[] = []
  const attacker = async (): Promise<Organization> => {
    const last = settled.at(-1)
    if (last && (await isAlive(last))) return last
    settled.push(await settle(stack.api, 'n'))
    return settled.at(-1)!
  }

  before(async () => {
    mailgun = await startTestMailgun()
    stack = await startStack({
      settings: {
        TRUST_PROXY: '1',
        REGISTRATION: 'open',
        DNS_SERVERS: '127.0.0.1:9',
        MAILGUN_US_URL: mailgun.url,
        MAILGUN_EU_URL: mailgun.url,
        // All records of an organization are read at once.
        STREAMS_PER_ORGANIZATION: '100',
        MONGODB_STREAMS: '100',
        MONGODB_ALL_STREAMS: '100',
      },
    })
    victim = await settle(stack.api, foreign)
  })
  after(async () => {
    await stack?.stop()
    await mailgun?.stop()
  })

  it('get declared answers, learn nothing, and break nothing', {
    timeout: scaledTimeout(60_000 + requests * 100),
  }, async t => {
    const untouched = await recordsOf(victim)
    const tally = await attack(stack.urls[0]!, attacker, victim.loot, requests)
    const statuses = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    console.log(`S1  ${tally.sent} requests, ${tally.violations.length} violations (${statuses.join(', ')})`)
    t.diagnostic(`seed ${seed}, ${settled.length} organizations`)
    assert.deepEqual(tally.violations, [])
    assert.deepEqual(await recordsOf(victim), untouched)
    await bodyOf(stack.owner.get('/api/auth/me'))
  })

  it('find a textbook server wanting, by the same count', async () => {
    const app = express().use(express.json({ type: () => true }))
    app.use((request, response) => {
      const merged: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(request.body ?? {})) merged[name] = (value as object).toString()
      response.json({ ...merged, passwordHash: '$argon2id$…' })
    })
    app.use(((error, _request, response, _next) =>
      response.status(500).send(error.stack)) satisfies ErrorRequestHandler)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { violations } = await attack(`http://127.0.0.1:${port}`, attacker, victim.loot, 100)
    server.close().closeAllConnections()
    assert.ok(violations.length > 50)
  })
})

/** Registers an organization and fills it by valid requests. */
async function settle(api: Api, word: string): Promise<Organization> {
  const email = `${word}-${randomBytes(6).toString('hex')}@example.com`
  const account = { name: word, organization: word, email, password: 'made for tests only' }
  const { token } = await bodyOf(nextAddress(api).post<{ token: string }>('/api/auth/register', account), 201)
  const owner = api.as(token)
  const organization = {
    api: owner,
    credentials: [token, (await makeToken(owner, { name: word })).token],
    loot: noLoot(word),
  }
  await furnish(organization)
  return organization
}

/** Routes that create records, in order of dependency. */
const making = routes
  .filter(
    ({ status, access, path }) =>
      access.kind !== 'public' && (status === 201 || /save-role|upload|start$|\/contacts$/.test(path)),
  )
  .sort((a, b) => a.path.split(':').length - b.path.split(':').length)
/** Lists in which every organization has something. */
const needed = ['/api/audience', '/api/audience-lists', '/api/users', '/api/tokens', '/api/workspaces', '/api/features']
const lists = routes.filter(({ returns }) => returns.pageOf)

async function furnish({ api, credentials, loot }: Organization): Promise<void> {
  const tally = newTally()
  for (const route of [...making, ...lists]) {
    for (const request of fc.sample(meantFor(route, loot), { numRuns: 6, seed })) {
      if (await judge(api.url, credentials[0]!, loot, request, tally)) break
    }
  }
  assert.deepEqual(tally.violations, [])
  for (const list of needed) assert.ok(loot.paths.get(list)?.length, `nothing at ${list}`)
}

/** Returns all lists of an organization, once they no longer change. */
async function recordsOf(organization: Organization): Promise<unknown[]> {
  for (let last: unknown[] = []; ; await sleep(200)) {
    const now = await Promise.all(lists.map(route => listOf(organization, route)))
    if (isDeepStrictEqual(now, last)) return now
    last = now
  }
}

async function listOf({ api, loot }: Organization, { path }: Route): Promise<unknown> {
  const [parent, rest] = path.split(/\/:\w+/)
  const at = rest === undefined ? path : `${loot.paths.get(parent!)?.[0]}${rest}`
  const { body } = await nextAddress(api).get<unknown>(at, { pagination: 'false' })
  return { at, body }
}

async function isAlive({ api, credentials }: Organization): Promise<boolean> {
  const answers = await Promise.all(credentials.map(credential => nextAddress(api.as(credential)).get('/api/auth/me')))
  return answers.every(({ status }) => status === 200)
}

const newTally = (): Tally => ({ sent: 0, statuses: new Map(), violations: [] })

async function attack(url: string, attacker: () => Promise<Organization>, victim: Loot, count: number): Promise<Tally> {
  const tally = newTally()
  const before = Object.getOwnPropertyNames(Object.prototype).join()
  let made: { loot: Loot; requests: fc.Arbitrary<HostileRequest> } | undefined
  for (let from = 0; from < count; from += round) {
    const { credentials, loot } = await attacker()
    if (made?.loot !== loot) made = { loot, requests: hostileRequests(loot, victim) }
    const stream = streamOf(made.requests, Math.min(round, count - from), seed + from)
    const worker = async () => {
      for (const request of stream) await judge(url, credentials[request.by ? 1 : 0]!, loot, request, tally)
    }
    await Promise.all(Array.from({ length: parallel }, worker))
  }
  if (Object.getOwnPropertyNames(Object.prototype).join() !== before) tally.violations.push('Object.prototype changed')
  return tally
}

/** Generates requests in small groups, so that they use what is known by then. */
function* streamOf<T>(made: fc.Arbitrary<T>, count: number, seed: number): Generator<T> {
  for (let from = 0; from < count; from += parallel) {
    yield* fc.sample(made, { numRuns: Math.min(parallel, count - from), seed: seed + from })
  }
}

/** Sends a request, counts its answer, learns from it, and records violations. Returns whether it succeeded. */
async function judge(
  url: string,
  credential: string,
  loot: Loot,
  request: HostileRequest,
  tally: Tally,
): Promise<boolean> {
  const { route, path, query, headers, body } = request
  const target = new URL(path + (query && `?${query}`), url)
  tally.sent++
  const ask = async () => {
    const response = await fetch(target, {
      method: route.verb,
      redirect: 'manual',
      headers: { ...headers, authorization: credential, 'x-forwarded-for': anAddress() },
      ...(body !== undefined && { body: body.toWellFormed() }),
    })
    tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1)
    return response
  }
  try {
    let response = await ask()
    if (response.status === 503) response = await sleep(pauseMs).then(ask) // once may be a busy machine, twice is a violation
    const text = await response.text()
    assert.notEqual(response.status, 503, `unavailable: ${text}`)
    checkAnswer(route.verb, target, response.status, response.headers, text)
    const leaked = secrets.find(secret => secret !== loot.word && text.includes(secret))
    assert.equal(leaked, undefined, `contains ${leaked}: ${text.slice(0, 300)}`)
    if (response.ok && response.headers.get('content-type')?.startsWith('application/json'))
      learn(loot, request, JSON.parse(text))
    return response.ok
  } catch (error) {
    const problem = String((error as Error).cause ?? error).slice(0, 600)
    const sent = { ...request, route: undefined, verb: route.verb }
    tally.violations.push(`seed ${seed}: ${JSON.stringify(sent).slice(0, 2000)}: ${problem}`)
    return false
  }
}

let address = 0

/** Requests come from many addresses, so that the limits of one address do not apply. */
function anAddress(): string {
  address++
  return `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`
}

function nextAddress(api: Api): Api {
  return api.with({ 'x-forwarded-for': anAddress() })
}
