import { randomInt } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kept, unpackAnswer } from '@rollcall/answers'
import { eventPublishers } from '@rollcall/contract'
import { startBacking } from '@rollcall/local'
import type { BulkJobJson } from '@rollcall/protos/gen/audience-v1.ts'
import { connect, serviceCaller } from '@rollcall/rpc'
import { eventually } from '@rollcall/testing/eventually'
import { startMailServer } from '@rollcall/testing/mail-server'
import { type ReceivedRequest, type ReceiverAnswer, startReceiver } from '@rollcall/testing/receiver'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf } from '../api.ts'
import { importFile } from '../import/import-job.ts'
import { verifiedDomain } from '../messaging/verified-domain.ts'
import { isSoak } from '../soak.ts'
import { startStack } from '../stack.ts'

/** A person whose addresses and name are in every store of the product. Each contains the mark, and nothing else does. */
export type Known = { contactId: string; addresses: readonly string[]; name: string; mark: string }

type Erased = Pick<BulkJobJson, 'progress' | 'result'>

/** The product with all that it can know of people. */
export type World = {
  owner: Api
  /** Makes a person known to every service, by all ways that lead into a store. */
  introduce(label: string): Promise<Known>
  /** Erases a contact by the API, and returns the job. */
  erase(contact: Pick<Known, 'contactId'>): Promise<Erased>
  /** Erases the person as a product would of which one service forgets to. */
  eraseNaively(person: Known, forgetful: string): Promise<void>
  /** Searches every store, byte by byte. Returns the places that name the person: `service.collection`, `redis`, a log. */
  search(person: Known): Promise<string[]>
  /** Sends a mail to an address, and returns why it did not go out. */
  refusalOfMail(address: string): Promise<string>
  /** Stops everything, so that the database writes its files. */
  stop(): Promise<void>
  /**
   * Searches the files of the stopped database, byte by byte, except its journal and its oplog, which name people until they
   * roll over. Returns those that name the person.
   */
  searchFiles(person: Known): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

const DOMAIN = 'sender.example.org'
const CACHE = process.env.CACHE_DIR ?? join(import.meta.dirname, '../../.cache')
/** The journal and the oplog of the database. */
const ROLLING = /WiredTigerLog|oplog/

/** Starts the product with a database of its own. In a soak, each service is a process, whose log has all its output. */
export async function startWorld(): Promise<World> {
  await using onFailure = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-erasure-'))
  onFailure.defer(() => rm(dataDir, { recursive: true, force: true }))
  const running = onFailure.use(new AsyncDisposableStack())
  const database = await startBacking({ cacheDir: CACHE, dataDir, only: ['mongodb'], env: {}, log: () => {} })
  running.defer(() => database.stop())
  const server = await startMailServer()
  onFailure.defer(() => server.stop())
  const rejected = new Set<string>()
  server.refuse = to => (rejected.has(to) ? { code: 554, message: `5.7.1 <${to}>: mail to ${to} rejected` } : undefined)
  const receiver = await startReceiver()
  onFailure.defer(() => receiver.stop())
  receiver.answer(repeated)
  const stack = await startStack({
    processes: isSoak,
    logFiles: true,
    settings: {
      MONGODB_URL: database.env.MONGODB_URL,
      LOG_LEVEL: 'debug',
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    },
  })
  running.defer(() => stack.stop())
  const mongo = await new MongoClient(database.env.MONGODB_URL).connect()
  running.defer(() => mongo.close())
  const redis = new Redis(stack.backing.REDIS_QUEUE_URL)
  running.defer(async () => redis.disconnect())
  const { owner } = stack
  const { organization } = await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))
  await verifiedDomain({ ...stack, backing: { ...stack.backing, ...database.env } }, DOMAIN)
  const sender = { name: 'News', email: `news@${DOMAIN}`, delivery: 'hosted' }
  const { id: senderId } = await bodyOf(owner.post<{ id: string }>('/api/emails/senders', sender), 201)
  await bodyOf(owner.post('/api/webhooks', { name: 'All', url: receiver.url, active: true }), 201)
  const attribute = { name: 'Age', slug: 'age', type: 'number' }
  await bodyOf(owner.post('/api/audience/attributes', attribute), 201)
  const fields = [
    { slug: 'email', name: 'Email', type: 'email', unique: true },
    { slug: 'name', name: 'Name', type: 'string' },
  ]
  const form = { title: 'Sign-up', enabled: true, contact: { email: 'email', name: 'name' } }
  const collection = { name: 'Readers', slug: 'readers', fields, form }
  const { id: collectionId } = await bodyOf(owner.post<{ id: string }>('/api/collections', collection), 201)

  const introduce: World['introduce'] = async label => {
    const mark = newMark()
    const person = `${label}-${mark}`
    const [former, address, name] = [`${person}-former@example.com`, `${person}@example.com`, `Name of ${person}`]
    const keyed = owner.with({ 'idempotency-key': `create-${label}` })
    const made = { email: former, name, tags: ['known'], unsubscribed: true }
    const { id } = await bodyOf(keyed.post<{ id: string }>('/api/audience', made), 201)
    const message = { to: { contactId: id }, from: senderId, subject: `For ${name}`, text: `To ${name}` }
    await bodyOf(owner.post('/api/emails/send', message), 202)
    await server.mailTo(former)
    await bodyOf(owner.patch(`/api/audience/${id}`, { email: address }))
    await bodyOf(owner.post('/api/emails/send', { ...message, to: address }), 202)
    await server.mailTo(address)
    rejected.add(address)
    const { id: mailId } = await bodyOf(
      owner.post<{ id: string }>('/api/emails/send', { ...message, to: address }),
      202,
    )
    await eventually('the mail is rejected', async () => {
      const { status } = await bodyOf(owner.get<{ status: string }>(`/api/emails/messages/${mailId}`))
      return status === 'bounced'
    })
    const segment = { name: `Segment of ${label}`, filter: { email: address } }
    await bodyOf(owner.post('/api/audience/segments', segment), 201)
    const change = { emails: [address], change: { addTags: ['bulk'] } }
    const { jobId } = await bodyOf(owner.patch<{ jobId: string }>('/api/audience/bulk', change))
    await ended(jobId)
    const file = `email,name,age\n${address},${name},not a number\nother@example.org,Other,1\n`
    await importFile(owner, file)
    await importFile(owner, `email,name\n${address},${name} again\n`, { dryRun: true })
    await bodyOf(owner.upload('/api/audience/import/upload', file))
    const submitted = await fetch(`${stack.urls[0]}/api/forms/${collectionId}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: address, name }),
    })
    if (submitted.status !== 201) throw new Error(await submitted.text())
    await bodyOf(owner.post('/api/emails/suppressions', { email: address, reason: `asked by ${name}` }), 201)
    const known = { contactId: id, addresses: [former, address], name, mark }
    await eventually('every store knows the person', async () => {
      const places = new Set(await search(known))
      return PLACES.every(place => places.has(place)) && places
    })
    return known
  }

  const ended = (jobId: string): Promise<Erased> =>
    eventually(
      'the bulk job ends',
      async () => {
        const status = await bodyOf(owner.get<Erased & { state: string }>(`/api/audience/bulk/${jobId}`))
        return status.state === 'completed' && status
      },
      { withinMs: scaledTimeout(60_000) },
    )

  const search: World['search'] = async person => {
    const places = new Set<string>()
    for (const { name: database } of (await mongo.db().admin().listDatabases()).databases) {
      if (!database.startsWith(`${stack.namespace}rollcall_`)) continue
      for (const { name: collection } of await mongo.db(database).listCollections().toArray())
        for await (const bytes of mongo.db(database).collection(collection).find({}, { raw: true }))
          if (isNamed(person, bytes as unknown as Uint8Array))
            places.add(`${database.slice(`${stack.namespace}rollcall_`.length)}.${collection}`)
    }
    for await (const keys of redis.scanStream({ match: `*${stack.namespace}*`, count: 1000 }) as AsyncIterable<
      string[]
    >)
      for (const key of keys) if (isNamed(person, await bytesOf(key))) places.add('redis')
    for (const file of await readdir(stack.logDir, { recursive: true, withFileTypes: true }))
      if (file.isFile() && isNamed(person, await readFile(join(file.parentPath, file.name))))
        places.add(`log ${file.name}`)
    return [...places].sort()
  }

  /** Returns the bytes of a key and its value, if it has not expired, with a kept answer as it was sent. */
  const bytesOf = async (key: string): Promise<Buffer> => {
    if ((await redis.type(key)) !== 'string')
      return Buffer.concat([Buffer.from(key), (await redis.dumpBuffer(key)) ?? Buffer.alloc(0)])
    const text = (await redis.get(key)) ?? ''
    if (!key.includes('idempotency:')) return Buffer.from(key + text)
    const { answer } = JSON.parse(text || '{}') as Kept
    return Buffer.concat([Buffer.from(key + text), answer ? unpackAnswer(answer) : Buffer.alloc(0)])
  }

  const all = onFailure.move()
  return {
    owner,
    introduce,
    search,
    async erase({ contactId }) {
      return ended((await bodyOf(owner.post<{ jobId: string }>(`/api/audience/${contactId}/erase`, {}))).jobId)
    },
    async refusalOfMail(to) {
      const message = { to, from: senderId, subject: 'Again', text: 'Again' }
      const { id } = await bodyOf(owner.post<{ id: string }>('/api/emails/send', message), 202)
      return eventually('the mail is refused', async () => {
        const { status, error } = await bodyOf(
          owner.get<{ status: string; error: string }>(`/api/emails/messages/${id}`),
        )
        return status === 'suppressed' && error
      })
    },
    stop: () => running.disposeAsync(),
    async searchFiles(person) {
      const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
      const places: string[] = []
      for (const { parentPath, name } of files)
        if (!ROLLING.test(name) && isNamed(person, await readFile(join(parentPath, name)))) places.push(name)
      return places
    },
    async eraseNaively({ contactId, addresses, name }, forgetful) {
      await bodyOf(owner.delete(`/api/audience/${contactId}`))
      const caller = serviceCaller('audience', organization.id)
      for (const service of eventPublishers.filter(each => each !== forgetful)) {
        const address = `127.0.0.1:${stack.instances(service)[0]!.port}`
        const connection = connect({ address, trust: stack.trust('audience') })
        const person = { contactId, emailKeys: [...addresses], names: [name] }
        await connection
          .client('rollcall.people.v1.People')
          .erasePerson(person, { caller, deadline: Date.now() + 30_000 })
        connection.close()
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Answers as an endpoint that repeats what it gets, and refuses new contacts by their address. */
function repeated({ body }: ReceivedRequest): ReceiverAnswer {
  const { type, data } = JSON.parse(body)
  return type === 'contact.created' ? { status: 422, body: `${data.contact.email}\n${body}` } : { status: 200, body }
}

/** All runs of three letters in the marks so far. */
const taken = new Set<string>()

/**
 * Returns letters that nothing else contains. No three of them in a row stand anywhere else, so that a block of the
 * database, which compresses by referring to what it repeats, keeps their first occurrence as it is.
 */
function newMark(): string {
  for (;;) {
    const mark = Array.from({ length: 12 }, () => 'jkqvwxyz'[randomInt(8)]).join('')
    const runs = new Set(Array.from({ length: mark.length - 2 }, (_, at) => mark.slice(at, at + 3)))
    if (runs.size < mark.length - 2 || [...runs].some(run => taken.has(run))) continue
    for (const run of runs) taken.add(run)
    return mark
  }
}

/** Whether bytes name a person, in UTF-8 or UTF-16. */
function isNamed({ mark }: Known, bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes)
  return buffer.includes(mark) || buffer.includes(Buffer.from(mark, 'utf16le'))
}

/** Places that name a person whom `introduce` has made known; a search that misses one proves nothing. */
const PLACES = [
  'audience.contacts',
  'audience.history',
  'audience.emails',
  'audience.bulk_jobs',
  'audience.outbox',
  'audience.segments',
  'content.entries',
  'content.uniquevalues',
  'import.chunks',
  'import.failed_rows',
  'import.imports',
  'messaging.mails',
  'messaging.suppressions',
  'messaging.outbox',
  'webhooks.attempts',
  'webhooks.deliveries',
  'webhooks.events',
  'redis',
]
