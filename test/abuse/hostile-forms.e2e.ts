import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import express from 'express'
import fc from 'fast-check'
import { bodyOf } from '../api.ts'
import { manyAddresses, nextAddress } from '../every-route.ts'
import { type Mailbox, openMailbox } from '../identity/mailbox.ts'
import { addDefaultSender } from '../messaging/verified-domain.ts'
import { counted, seed } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'

/** Requests; two of three submit the form, in the soak more often than the goal names. */
const requests = counted(300, 16_000)
const parallel = 8
/** The only places that anything public of the stack may lead to. */
const THANKS = 'https://example.com/thanks'
const TARGET = 'https://example.com/stored'
const EVIL = 'https://evil.example/'
const SHOP = 'https://shop.example.com'

/** A request by a stranger. `at` is what it aims at. */
type Hostile = {
  at: 'form' | 'page' | 'confirmation' | 'link'
  key: string
  verb: string
  query: string
  headers: Record<string, string>
  body: Buffer
}
type Report = { statuses: Map<number, number>; submitted: number; accepted: number; violations: string[] }
/** What a server under attack offers; `token` is that of a link that confirms an address. */
type Target = { url: string; formId: string; slug: string; token: string }

const fields = [
  { slug: 'email', name: 'Email', type: 'email', required: true },
  { slug: 'name', name: 'Name', type: 'string' },
  { slug: 'age', name: 'Age', type: 'number' },
  { slug: 'size', name: 'Size', type: 'enum', options: ['S', 'M'] },
  { slug: 'agreed', name: 'Agreed', type: 'boolean' },
  { slug: 'born', name: 'Born', type: 'date' },
  { slug: 'site', name: 'Site', type: 'url' },
] as const

const names = fc.oneof(
  fc.constantFrom(...fields.map(({ slug }) => slug)),
  fc.constantFrom('__proto__', 'constructor', '_website', '$where', 'organization', '_id', 'next', 'redirectUrl', ''),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const texts = fc.oneof(
  fc.constantFrom('a@example.com', 'S', '1', 'true', EVIL, 'javascript:alert(1)', '{{ 7 * 7 }}', '<script>', '=1+1'),
  fc.constantFrom('a@example.com\r\nBcc: all@example.com', '\0', '٤٢', '1e999', '2026-02-30', 'x'.repeat(70_000)),
  fc.string({ unit: 'binary' }),
)
const values = fc.oneof(texts, fc.jsonValue(), fc.constantFrom({ $ne: null }, { $gt: '' }, [['a']], -0, 1e308))
const emails = fc.nat().map(number => `person${number}@example.com`)
/** Some are in order, so that much is stored too. */
const objects = fc.oneof(
  fc.dictionary(names, values, { maxKeys: 6 }),
  fc.tuple(fc.dictionary(names, values, { maxKeys: 2 }), emails).map(([rest, email]) => ({ ...rest, email })),
  fc.record({ email: emails, name: texts, age: fc.integer() }, { requiredKeys: ['email'] }),
)
const asForm = (value: object) =>
  new URLSearchParams(Object.entries(value).map(([name, text]): [string, string] => [name, String(text)]))
const FORM_TYPE = 'application/x-www-form-urlencoded'
const bodies = fc.oneof(
  objects.map(value => ({ type: 'application/json', body: Buffer.from(JSON.stringify(value)) })),
  objects.map(value => ({ type: FORM_TYPE, body: Buffer.from(`${asForm(value)}&email=${EVIL}`) })),
  objects.map(value => ({ type: FORM_TYPE, body: Buffer.from(String(asForm(value))) })),
  fc.record({
    type: fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      FORM_TYPE,
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/jsonp',
    ),
    body: fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
      fc.nat({ max: 5000 }).map(depth => Buffer.from('['.repeat(depth) + ']'.repeat(depth))),
      fc.constantFrom('%', 'a=%zz', '&&&=', 'email', '{"email":"a@example.com","email":1}', '').map(Buffer.from),
    ),
  }),
)

/** Tokens that differ from a genuine one. */
const forged = (token: string): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc
        .tuple(fc.nat({ max: token.length - 1 }), fc.constantFrom('A', 'b', '0', '-', '_', ''))
        .map(([at, char]) => token.slice(0, at) + char + token.slice(at + 1)),
      fc.nat({ max: token.length - 1 }).map(length => token.slice(0, length)),
      fc.constantFrom(`${token}A`, `${token}=`, token.toUpperCase(), token.split('').toReversed().join('')),
      fc.uint8Array({ minLength: 1, maxLength: 100 }).map(bytes => Buffer.from(bytes).toString('base64url')),
    )
    .filter(key => key !== token)
    .map(encodeURIComponent)

/** Requests to what strangers reach: most submit the form. */
const hostile = ({ formId, slug, token }: Target): fc.Arbitrary<Hostile> => {
  const keyOf = (own: string) =>
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(own) },
      fc.constantFrom(own.toUpperCase(), `${own}/`, `/${own}`, `${own}%00`, '..%2f..', 'f'.repeat(24), '__proto__'),
      fc.string({ minLength: 1 }).map(encodeURIComponent),
    )
  const rest = {
    query: fc.oneof(
      fc.constant(''),
      fc.constantFrom(`next=${EVIL}&url=${EVIL}`, 'email=a%40example.com', '__proto__=1'),
    ),
    given: bodies,
    headers: fc.record(
      {
        origin: fc.constantFrom(SHOP, SHOP, SHOP, EVIL.slice(0, -1), 'null', 'nonsense'),
        referer: fc.constantFrom(EVIL, 'nonsense'),
        accept: fc.constantFrom('text/html', 'application/json', '*/*;q=nonsense'),
        'accept-language': fc.constantFrom('de', '*', 'x'.repeat(300)),
        'x-forwarded-host': fc.constant('evil.example'),
        'x-forwarded-proto': fc.constantFrom('javascript', 'https'),
        forwarded: fc.constant('host=evil.example'),
        cookie: fc.constant('auth_token=forged'),
        'x-http-method-override': fc.constant('DELETE'),
        'user-agent': fc.constant('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'),
      },
      { requiredKeys: [] },
    ),
  }
  const to = (at: Hostile['at'], own: string, verbs: string[]) =>
    fc.record({ at: fc.constant(at), key: keyOf(own), verb: fc.constantFrom(...verbs), ...rest })
  return fc
    .oneof(
      { weight: 7, arbitrary: to('form', formId, ['POST']) },
      to('page', formId, ['GET', 'HEAD']),
      fc.record({
        at: fc.constant('confirmation' as const),
        key: forged(token),
        verb: fc.constantFrom('GET', 'POST'),
        ...rest,
      }),
      to('link', slug, ['GET', 'HEAD']),
    )
    .map(({ given: { type, body }, headers, ...request }) => ({
      ...request,
      headers: { ...headers, ...(request.verb === 'POST' && { 'content-type': type }) },
      body: request.verb === 'POST' ? body : Buffer.alloc(0),
    }))
}

/** Statuses of the answers that are declared. An odd key may lead to a path of the API that wants a credential. */
const declared: Record<Hostile['at'], readonly number[]> = {
  form: [201, 303, 400, 401, 403, 404, 409, 413, 415],
  page: [200, 400, 404],
  confirmation: [400, 404],
  link: [302, 400, 404],
}

const pathOf = ({ at, key }: Hostile): string =>
  ({ form: `/api/forms/${key}/submit`, page: `/f/${key}`, confirmation: `/c/${key}`, link: `/l/${key}` })[at]

describe('hostile submissions', () => {
  let stack: TestStack
  let mailbox: Mailbox
  let target: Target
  before(async () => {
    mailbox = await openMailbox()
    stack = await startStack({ settings: { ...mailbox.settings, ...manyAddresses } })
    await addDefaultSender(stack)
    const contact = { email: 'email', name: 'name', doubleOptIn: true }
    const form = { title: 'Order', redirectUrl: THANKS, allowedOrigins: [SHOP], contact }
    const collection = { name: 'Orders', slug: 'orders', fields, form }
    const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/collections', collection), 201)
    await bodyOf(stack.owner.post('/api/links', { url: TARGET, slug: 'stored' }), 201)
    const body = new URLSearchParams({ email: 'first@example.com' })
    const submit = () => fetch(`${stack.urls[0]}/api/forms/${id}/submit`, { method: 'POST', body, redirect: 'manual' })
    const [, token = ''] = /\/c\/([\w-]+)/.exec(await mailbox.next('first@example.com', submit)) ?? []
    target = { url: stack.urls[0]!, formId: id, slug: 'stored', token }
  })
  after(async () => {
    await stack?.stop()
    await mailbox?.remove()
  })

  it('get declared answers, lead nowhere else, and store only what fits', {
    timeout: scaledTimeout(60_000 + requests * 50),
  }, async () => {
    const { statuses, submitted, accepted, violations } = await attack(target, requests)
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    console.log(
      `forms  ${requests} hostile requests, ${submitted} submissions, ${violations.length} violations (${shown.join(', ')})`,
    )
    assert.deepEqual(violations, [])
    type Entry = { values: Record<string, unknown> }
    const entries = `/api/collections/${target.formId}/entries`
    const stored = await bodyOf(stack.owner.get<Entry[]>(entries, { pagination: false }))
    assert.ok(stored.length > 1 && stored.length <= accepted + 1, `${stored.length} stored, ${accepted} accepted`)
    assert.deepEqual(
      stored.flatMap(({ values }) => misfits(values)),
      [],
    )
    const { totalDocs } = await bodyOf(stack.owner.get<{ totalDocs: number }>('/api/audience'))
    assert.equal(totalDocs, 0, 'nobody becomes a contact without the mailed token')
  })

  it('find a textbook server wanting, by the same count', async () => {
    const app = express().use(express.json(), express.urlencoded({ extended: true }))
    app.get('/l/:slug', (request, response) => response.redirect(String(request.query.next ?? TARGET)))
    app.post('/api/forms/:id/submit', (request, response) => {
      const { email, name = '' } = request.body
      response.json({ email: email.toLowerCase(), name: name.trim() })
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { violations } = await attack({ ...target, url: `http://127.0.0.1:${port}` }, 200)
    server.close().closeAllConnections()
    assert.ok(violations.some(text => text.includes(`leads to ${EVIL}`)))
    assert.ok(violations.length > 50)
  })
})

async function attack(target: Target, count: number): Promise<Report> {
  const report: Report = { statuses: new Map(), submitted: 0, accepted: 0, violations: [] }
  const requests = fc.sample(hostile(target), { numRuns: count, seed })[Symbol.iterator]()
  const worker = async () => {
    for (const request of requests) await judge(target, request, report)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  if (({} as Record<string, unknown>).email !== undefined) report.violations.push('Object.prototype changed')
  return report
}

/** Sends a request, counts its answer, and records what is wrong with it. */
async function judge({ url }: Target, request: Hostile, report: Report): Promise<void> {
  const at = new URL(pathOf(request) + (request.query && `?${request.query}`), url)
  try {
    const response = await fetch(at, {
      method: request.verb,
      redirect: 'manual',
      headers: { ...request.headers, 'x-forwarded-for': nextAddress() },
      ...(request.verb === 'POST' && { body: new Uint8Array(request.body) }),
    })
    const text = await response.text()
    report.statuses.set(response.status, (report.statuses.get(response.status) ?? 0) + 1)
    if (request.at === 'form') report.submitted++
    if (request.at === 'form' && [201, 303].includes(response.status)) report.accepted++
    const location = response.headers.get('location')
    const allowed = { form: THANKS, link: TARGET, page: null, confirmation: null }[request.at]
    assert.ok(location === null || location === allowed, `leads to ${location}`)
    assert.ok(declared[request.at].includes(response.status), `${response.status} ${text.slice(0, 200)}`)
    assert.ok(response.headers.get('x-request-id'), 'no X-Request-Id')
    if (response.status >= 400 && response.headers.get('content-type')?.startsWith('application/json'))
      assert.ok(response.headers.get('x-error-code'), `no X-Error-Code: ${text}`)
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  } catch (error) {
    const sent = JSON.stringify({ ...request, body: request.body.toString('latin1') }).slice(0, 1000)
    report.violations.push(`seed ${seed}: ${sent}: ${String((error as Error).cause ?? error).slice(0, 600)}`)
  }
}

/** Returns the values that are not of their field. */
function misfits(values: Record<string, unknown>): string[] {
  const fits: Record<(typeof fields)[number]['type'], (value: unknown) => boolean> = {
    email: value => /^[^\s@]+@[^\s@]+$/.test(String(value)),
    string: value => typeof value === 'string',
    number: value => Number.isFinite(value),
    enum: value => value === 'S' || value === 'M',
    boolean: value => typeof value === 'boolean',
    date: value => !Number.isNaN(Date.parse(String(value))),
    url: value => /^https?:\/\//.test(String(value)),
  }
  return Object.entries(values).flatMap(([slug, value]) => {
    const field = fields.find(each => each.slug === slug)
    return field && (value === null || fits[field.type](value)) ? [] : [`${slug}: ${JSON.stringify(value)}`]
  })
}
