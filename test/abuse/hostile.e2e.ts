import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { contractRoutes } from '@rollcall/rpc'
import express, { type ErrorRequestHandler } from 'express'
import fc from 'fast-check'
import { checkAnswer } from '../answers.ts'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { counted } from '../soak.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type HostileRequest, hostileRequests } from './hostile.ts'

/** S1 of the goals. */
const requests = counted(600, 1_000_000)
const parallel = 4
/** In everything that the other organization has, and in nothing else. */
const foreign = 'belongs-to-the-other'
const secrets = ['$argon2', '"passwordHash":', '"hash":', OWNER.password, foreign]

type Subject = { url: string; credential: string; ids: string[] }
type Tally = { sent: number; statuses: Map<number, number>; violations: string[] }

describe('hostile requests', () => {
  let stack: TestStack
  let subject: Subject
  before(async () => {
    stack = await startStack({ settings: { TRUST_PROXY: '1', DNS_SERVERS: '127.0.0.1:9', REGISTRATION: 'open' } })
    subject = { url: stack.urls[0]!, ...(await populate(stack)) }
  })
  after(() => stack?.stop())

  it('get declared answers, learn nothing, and break nothing', { timeout: 60_000 + requests * 100 }, async () => {
    const tally = await attack(subject, requests)
    const statuses = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    console.log(`S1  ${tally.sent} requests, ${tally.violations.length} violations (${statuses.join(', ')})`)
    assert.deepEqual(tally.violations, [])
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
    const { violations } = await attack({ ...subject, url: `http://127.0.0.1:${port}` }, 100)
    server.close().closeAllConnections()
    assert.ok(violations.length > 50)
  })
})

/** An organization with a bit of everything, and another one whose ids are tried. */
async function populate({ owner, api }: TestStack): Promise<{ credential: string; ids: string[] }> {
  const other = await bodyOf(
    api.post<{ token: string }>('/api/auth/register', {
      name: foreign,
      email: `${foreign}@example.com`,
      password: 'a long enough one',
    }),
    201,
  )
  const ids = [...(await furnish(owner, 'Name One')), ...(await furnish(api.as(other.token), foreign))]
  return { credential: (await makeToken(owner)).token, ids }
}

async function furnish(owner: Api, name: string): Promise<string[]> {
  const email = `${name.replace(' ', '-')}.two@example.com`
  const made = [
    await owner.post<{ id: string }>('/api/audience', { email, name, tags: [name] }),
    await owner.post<{ id: string }>('/api/users', { email, name }),
    await owner.post<{ id: string }>('/api/tokens', { name }),
    await owner.post<{ id: string }>('/api/audience-lists', { name }),
    await owner.post<{ id: string }>('/api/workspaces', { name }),
    await owner.post<{ id: string }>('/api/access-control/save-role', {
      name,
      kind: 'api',
      permissions: { links: ['read'] },
    }),
  ]
  return made.map(({ body }) => body.id)
}

/** So many requests, made a thousand at a time. */
function* streamOf(ids: readonly string[], count: number, seed: number): Generator<HostileRequest> {
  const made = hostileRequests(contractRoutes(), ids)
  for (let from = 0; from < count; from += 1000) {
    yield* fc.sample(made, { numRuns: Math.min(1000, count - from), seed: seed + from })
  }
}

async function attack(subject: Subject, count: number): Promise<Tally> {
  const tally: Tally = { sent: 0, statuses: new Map(), violations: [] }
  const before = Object.getOwnPropertyNames(Object.prototype).join()
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
  const stream = streamOf(subject.ids, count, seed)
  const worker = async () => {
    for (const request of stream) {
      const violation = await judge(subject, request, tally)
      if (violation !== undefined) tally.violations.push(`seed ${seed}: ${JSON.stringify(request)}: ${violation}`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  if (Object.getOwnPropertyNames(Object.prototype).join() !== before) tally.violations.push('Object.prototype changed')
  return tally
}

/** Sends a request; answers what is wrong with its answer. */
async function judge({ url, credential }: Subject, request: HostileRequest, tally: Tally): Promise<string | undefined> {
  const { method, path, query, body, contentType } = request
  const target = new URL(path + (query && `?${query}`), url)
  const number = tally.sent++
  try {
    const response = await fetch(target, {
      method,
      redirect: 'manual',
      headers: {
        authorization: credential,
        'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body: body.toWellFormed() }),
    })
    const text = await response.text()
    tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1)
    if (response.status === 503) return `unavailable: ${text}`
    checkAnswer(method, target, response.status, response.headers, text)
    const told = secrets.find(secret => text.includes(secret))
    return told === undefined ? undefined : `tells ${told}: ${text.slice(0, 300)}`
  } catch (error) {
    return String((error as Error).cause ?? error).slice(0, 600)
  }
}
