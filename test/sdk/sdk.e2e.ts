import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Example, type Route, readExamples } from '@rollcall/contract'
import {
  type CallName,
  type Client,
  ConflictError,
  createClient,
  type LoggedEvent,
  type Registration,
  RollcallError,
  type StartImportResponse,
  routes as sent,
  UnauthorizedError,
} from '@rollcall/sdk'
import { startTestDns } from '@rollcall/testing/dns'
import { startMailServer } from '@rollcall/testing/mail-server'
import { startReceiver } from '@rollcall/testing/receiver'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { checkAnswer } from '../answers.ts'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses, routes } from '../every-route.ts'
import { exampleBody, exampleOf, makeOneOfEach, ownPath, queryFieldsOf } from '../example.ts'
import { openMailbox } from '../identity/mailbox.ts'
import { addPerson } from '../identity/people.ts'
import { startAccountProvider } from '../messaging/mail-account-provider.ts'
import { verifiedDomain } from '../messaging/verified-domain.ts'
import { startStack, type TestStack } from '../stack.ts'
import { changeless, eventless, inputs, paths, RELAY_ACCOUNT, refused, SENDER_DOMAIN, type World } from './inputs.ts'
import { differences, startRecorder } from './recorder.ts'

const run = promisify(execFile)
const LIBRARY = join(import.meta.dirname, '../../libs/sdk')
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

type Call = Route & { call: CallName }

/** Within this time, the log has the events of a call. */
const LOGGED_MS = 5_000
/** Whether a call must leave an entry in the event log. */
function isLogged({ verb, call }: Call): boolean {
  return !eventless[call] && (verb !== 'GET' || call === 'contacts.export')
}

/** Returns what the entries of a call in the event log lack; undefined if they are complete. */
function lackOf({ verb, call, access }: Call, entries: readonly LoggedEvent[]): string | undefined {
  if (entries.length === 0) return `${call}: no entry`
  const own = entries.filter(({ actor, credential, ip }) => {
    const isNamed = actor.kind === 'user' && actor.id !== null && credential !== null
    return ip !== null && (isNamed || access.kind === 'public')
  })
  if (own.length === 0) return `${call}: no entry says who and from where`
  const isUpdate = ['PATCH', 'PUT'].includes(verb) && !changeless[call]
  if (isUpdate && !own.some(({ changes }) => changes)) return `${call}: no entry says what changed`
  return undefined
}

/** Content of a file: a JSON file as its value, since the contract describes it. */
function contentOf(response: Response): Promise<unknown> {
  return response.headers.get('content-type')?.startsWith('application/json') ? response.json() : response.text()
}

const calls = routes.filter(({ call }) => call in sent) as Call[]
/** Deletions come last, of what is in a record before the record, and what ends the session after them. */
const rank = ({ verb, call, path }: Call) =>
  call === 'authentication.logout' ? 1 : verb === 'DELETE' ? -path.split('/').length : -100

describe('the SDK', () => {
  const started = new AsyncDisposableStack()
  const recorder = startRecorder()
  let stack: TestStack
  let caller: Api
  let rollcall: Client
  let world: World
  /** Ids of the last request, and of the request of each call that changed something. */
  let lastRequest = ''
  const changing = new Map<string, Call>()
  before(async () => {
    const mailbox = await openMailbox()
    started.defer(mailbox.remove)
    const dns = await startTestDns()
    started.defer(dns.stop)
    dns.zone('example.com', ['127.0.0.2'])
    const account = `news@${SENDER_DOMAIN}`
    const provider = await startAccountProvider(account)
    started.defer(provider.stop)
    const mails = await startMailServer({ user: account, secret: () => provider.accessToken })
    started.defer(mails.stop)
    const relay = await startMailServer({ user: RELAY_ACCOUNT.username, secret: RELAY_ACCOUNT.password })
    started.defer(relay.stop)
    const receiver = await startReceiver()
    started.defer(receiver.stop)
    stack = await startStack({
      settings: {
        ...manyAddresses,
        WEBHOOK_ALLOW_HTTP: 'true',
        WEBHOOK_ALLOW_PRIVATE: 'true',
        SMTP_ALLOW_PRIVATE: 'true',
        ...mailbox.settings,
        REGISTRATION: 'open',
        DNS_SERVERS: `127.0.0.2:${dns.port}`,
        GOOGLE_ISSUER: provider.issuer,
        GOOGLE_CLIENT_ID: 'client of the tests',
        GOOGLE_CLIENT_SECRET: 'secret of the tests',
        GOOGLE_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      },
    })
    started.defer(stack.stop)
    await verifiedDomain(stack, SENDER_DOMAIN)
    // An owner besides the first: the calls end the sessions of their account.
    const person = await addPerson(stack, 'owner')
    caller = person.api
    await makeOneOfEach(caller)
    const { authorization } = caller.headers
    rollcall = createClient({ baseUrl: stack.urls[0], token: authorization, fetch: checkedFetch, maxRetries: 0 })
    world = { stack, rollcall, caller, email: person.email, answers: {}, mailbox, dns, provider, receiver, relay }
  })
  after(() => started.disposeAsync())

  /** Holds every answer against the contract. Each request comes from an address of its own. */
  const checkedFetch: typeof fetch = async (url, init) => {
    const headers = { ...(init?.headers as Record<string, string>), ...fromElsewhere(stack.api).headers }
    const response = await fetch(url, { ...init, headers })
    const { status, headers: answered } = response
    lastRequest = answered.get('x-request-id') ?? ''
    checkAnswer(init?.method ?? 'GET', new URL(String(url)), status, answered, await response.clone().text())
    return response
  }

  const withToken = async () => {
    const { token } = await makeToken(stack.owner, { role: 'owner' })
    return createClient({ baseUrl: stack.urls[0], token })
  }

  /** Performs a call with ids of records that are there. Returns what was sent, and the answer. */
  async function perform(route: Call): Promise<Example> {
    const path = (await paths[route.call]?.(world)) ?? (await latestOf(route))
    const { input: kind } = sent[route.call] as { input?: 'body' | 'query' | 'file' }
    const input = kind && (await inputOf(route, kind))
    const [group, method] = route.call.split('.') as [keyof Client, string]
    const perform = rollcall[group][method as never] as (...args: unknown[]) => unknown
    const answer = await perform(...path, ...(input ? [input] : []))
    return {
      path,
      ...(kind === 'query' && { query: input as Record<string, unknown> }),
      ...(kind === 'body' && { body: input }),
      answer: answer instanceof Response ? await contentOf(answer) : answer,
    }
  }

  /** Returns the path variables of the latest record. */
  async function latestOf(route: Call): Promise<string[]> {
    // Its own session is not among those that the account's calls end.
    const lister = route.call.startsWith('account.') ? stack.owner : caller
    const own = (await ownPath(fromElsewhere(lister), route)).split('/')
    return route.path.split('/').flatMap((part, at) => (part.startsWith(':') ? [own[at]!] : []))
  }

  async function inputOf(route: Call, kind: 'body' | 'query' | 'file'): Promise<object> {
    if (kind === 'file') return new File(['Email,Name\nfrom.file@example.com,Kim Example\n'], 'contacts.csv')
    const query = () => Object.fromEntries(queryFieldsOf(route).map(field => [field.name, exampleOf(field)]))
    return (await inputs[route.call]?.(world)) ?? (kind === 'body' ? exampleBody(route) : query())
  }

  for (const route of calls.toSorted((one, other) => rank(one) - rank(other))) {
    const { call } = route
    it(`${call} ${refused[call] ? `is refused: ${refused[call]}` : 'succeeds'}`, async () => {
      try {
        const example = await perform(route)
        const { answer } = example
        if (isLogged(route)) changing.set(lastRequest, route)
        world.answers[call] = answer
        assert.equal(refused[call], undefined)
        recorder.note(call, example)
        if (call === 'imports.start' || call === 'imports.undo')
          await rollcall.imports.wait((answer as StartImportResponse).jobId)
        if (sent[call].answer === 'file') assert.match(JSON.stringify(answer), /,/)
        if (sent[call].answer === 'list') assert.ok(Array.isArray((answer as { docs: unknown }).docs))
      } catch (error) {
        if (!(error instanceof RollcallError)) throw error
        assert.equal(error.code, refused[call], error.message)
        assert.ok(route.errors.some(code => code === error.code))
      }
    })
  }

  it('left an entry in the event log with each call that changed something', async () => {
    const deadline = Date.now() + scaledTimeout(LOGGED_MS)
    const { token } = world.answers['authentication.register'] as Registration
    const logs = [stack.owner, stack.api.as(token!)] // the call made an organization of its own
    const entriesIn = (api: Api) => bodyOf(fromElsewhere(api).get<LoggedEvent[]>('/api/events', { pagination: false }))
    const lacks = async () => {
      const byRequest = Map.groupBy((await Promise.all(logs.map(entriesIn))).flat(), ({ requestId }) => requestId)
      return [...changing].flatMap(([id, route]) => lackOf(route, byRequest.get(id) ?? []) ?? [])
    }
    let lacking = await lacks()
    for (; lacking.length > 0 && Date.now() < deadline; lacking = await lacks()) await sleep(200)
    assert.deepEqual(lacking, [])
  })

  it('sends and gets what the examples of the reference show', () => {
    const examples = recorder.examples()
    if (process.env.RECORD === 'on') recorder.write(examples)
    const shown = readExamples()
    const calls = new Set([...Object.keys(shown), ...Object.keys(examples)])
    const wrong = [...calls].flatMap(call => differences(shown[call], examples[call], call))
    assert.deepEqual(wrong, [], 'record the examples again: npm run record')
  })

  it('has every route but those that redirect a browser', async () => {
    const absent = routes.filter(({ call }) => !(call in sent))
    assert.deepEqual(
      absent.map(({ call, carrier }) => [call, carrier.answer]),
      [['senders.returnOauth', 'redirect']],
    )
  })

  it('creates once if an answer is lost; without a key it creates twice', async () => {
    const { token } = await makeToken(stack.owner, { role: 'owner' })
    for (const isNaive of [false, true]) {
      let attempts = 0
      const losingTheFirst: typeof fetch = async (url, init) => {
        const { 'idempotency-key': key, ...headers } = { ...init?.headers } as Record<string, string>
        const response = await fetch(url, {
          ...init,
          headers: isNaive || !key ? headers : { ...headers, 'idempotency-key': key },
        })
        if (++attempts > 1) return response
        await response.text()
        throw new TypeError('the connection was closed')
      }
      const client = createClient({ baseUrl: stack.urls[0], token, fetch: losingTheFirst })
      const name = `Lost answer ${isNaive}`
      const { id } = await client.workspaces.create({ name })
      const { docs } = await createClient({ baseUrl: stack.urls[0], token }).workspaces.list({ filter: { name } })
      assert.equal(docs.length, isNaive ? 2 : 1)
      assert.ok(docs.some(workspace => workspace.id === id))
    }
  })

  it('answers a page when awaited, and every match when iterated', async () => {
    const { contacts } = await withToken()
    const emails = Array.from({ length: 25 }, (_, n) => `list${n}@example.com`)
    for (const email of emails) await contacts.create({ email, name: '"]}\\', tags: ['listed'] })
    const matches = () =>
      contacts.list({
        filter: { tags: 'listed', email: { $regex: '^list' } },
        sort: { createdAt: 1 },
        limit: 10,
      })
    const page = await matches()
    assert.deepEqual([page.docs.length, page.totalDocs, page.hasNextPage], [10, 25, true])
    const listed: string[] = []
    for await (const { email } of matches()) listed.push(email)
    assert.deepEqual(listed, emails)
  })

  it('rejects with an error by status, with its code and path', async () => {
    const { contacts } = await withToken()
    await contacts.create({ email: 'one@example.com' })
    await assert.rejects(contacts.create({ email: 'one@example.com' }), error => {
      assert.ok(error instanceof ConflictError)
      assert.deepEqual([error.status, error.path], [409, 'email'])
      assert.ok(error.requestId)
      return true
    })
    const stranger = createClient({ baseUrl: stack.urls[0], token: 'a:b' })
    await assert.rejects(stranger.contacts.list(), UnauthorizedError)
  })

  it('is packed for npm: a project installs it, compiles against it and runs', async () => {
    const { token } = await makeToken(stack.owner, { role: 'owner' })
    const folder = await mkdtemp(join(tmpdir(), 'rollcall-consumer-'))
    try {
      await run(process.execPath, [join(LIBRARY, 'pack.ts')])
      const packed = await run('npm', ['pack', join(LIBRARY, 'dist'), '--json'], { cwd: folder })
      const [{ filename, files }] = JSON.parse(packed.stdout)
      assert.ok(files.every(({ path }: { path: string }) => /\.(js|js\.map|d\.ts|json|md)$|^LICENSE$/.test(path)))
      await writeFile(join(folder, 'package.json'), '{ "name": "consumer", "type": "module", "private": true }')
      await run('npm', ['install', `./${filename}`, '--offline', '--no-audit', '--no-fund'], { cwd: folder })
      await writeFile(join(folder, 'consumer.ts'), CONSUMER)
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: consumerOptions }))
      await run(process.execPath, [TSC, '-p', folder])
      const env = { ...process.env, BASE: stack.urls[0], TOKEN: token }
      const { stdout } = await run(process.execPath, [join(folder, 'consumer.js')], { env })
      assert.equal(stdout, 'packed@example.com 1\nWebhookVerificationError\nrecord.duplicate email\n')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

/** Options of a project that checks the declarations of its dependencies. */
const consumerOptions = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: [],
}

const CONSUMER = `
import { ConflictError, type Contact, createClient } from '@rollcall/sdk'
import { unwrap } from '@rollcall/sdk/webhooks'

declare const process: { env: Record<string, string | undefined> }
const rollcall = createClient({ baseUrl: process.env.BASE, token: process.env.TOKEN })
const made: Contact = await rollcall.contacts.create({ email: 'packed@example.com' })
let count = 0
for await (const { email } of rollcall.contacts.list({ filter: { email: made.email } })) if (email) count++
console.log(made.email, count)
await unwrap('{}', {}, 'whsec_AA==').catch(error => console.log(error.name))
try {
  await rollcall.contacts.create({ email: made.email })
} catch (error) {
  if (error instanceof ConflictError) console.log(error.code, error.path)
}
`
