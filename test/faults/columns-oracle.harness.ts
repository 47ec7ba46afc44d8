import { AppError } from '@rollcall/contract'
import type { ApplyBatchRequestRow as Row } from '@rollcall/protos/gen/audience-v1.ts'
import { createLogger, pause } from '@rollcall/runtime'
import {
  type ColumnScopes,
  checkRowGroup,
  connectStore,
  createPatternMatcher,
  insertOf,
  listColumns,
  type Positions,
  parseFilter,
  rewriteRowGroup,
} from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { killAtWork } from '@rollcall/testing/kill-at-work'
import fc from 'fast-check'
import { Types } from 'mongoose'
import type { Definitions } from '../../services/audience/src/attributes/attribute-values.ts'
import { collections } from '../../services/audience/src/collections.ts'
import { columnData } from '../../services/audience/src/contacts/columns.job.ts'
import {
  contactColumns,
  contactFields,
  contactPositions,
  placed,
  untouched,
} from '../../services/audience/src/contacts/contact.model.ts'
import type { Data } from '../../services/audience/src/context.ts'
import { jsonOf, type Replica, type TestAudience, testCaller } from '../../services/audience/test/audience.ts'
import { contactFilters, oddContact } from './columns-oracle.filters.ts'

/** Runs of the oracle. */
export type OracleTrial = {
  /** Filters that columns answer. */
  filters: number
  /** Processes that are killed: replicas that apply or undo a batch, and programs that rewrite columns. */
  kills: number
  seed: number
  /** The naive variant: searches do not read which rows are stale. */
  ignoresStale?: boolean
  /** Gets what was seen so far after every so many filters. */
  onProgress?: (report: OracleReport) => void
}

/** What the oracle saw. */
export type OracleReport = {
  filters: number
  /** Those that read all columns from the database by themselves; the others share what a batch of them has read. */
  alone: number
  /** Contacts that a filter was compared on. */
  compared: number
  changes: number
  imports: number
  undone: number
  bulk: number
  rewrites: number
  kills: number
  /** Filters that found other contacts than the plain query. */
  wrong: string[]
}

/** Filters that are compared by one query. */
const BATCH = 300
/** Every so many filters one reads the columns by itself. */
const ALONE_EVERY = 20
/** Batches at once: one is searched while the database answers the other. */
const COMPARERS = 2
/** Filters compared before a writer writes again. */
const FILTERS_PER_WRITE = 150
const FILTERS_PER_REWRITE = 1000
const FILTERS_PER_PROGRESS = 20_000
/** Contacts of each writer, and the positions from one to the next: several row groups for few contacts. */
const CONTACTS = 20
const GAP = 110
/** A write whose outcome is not known may be seen until then. */
const UNSETTLED_MS = 15_000

const definitions: Definitions = new Map(
  (
    [
      ['city', 'string'],
      ['score', 'number'],
      ['since', 'date'],
      ['active', 'boolean'],
    ] as const
  ).map(([slug, type]) => [slug, { slug, type, options: [], required: false }]),
)
/** The last is an attribute of an older definition, with values of every kind. */
const fields = { ...contactFields(definitions), 'attributes.any': 'scalar' } as const

/** Positions that a write may change: some, and all above one. */
type Reach = { positions: Iterable<number>; above: number }

/**
 * Compares random filters on the columns of contacts with plain queries of the database, while contacts are changed, imported
 * by processes that are killed, undone, changed in bulk, and while columns are rewritten by programs that are killed.
 *
 * A batch of filters is searched in the columns, then asked of the database by one `$facet`. Contacts that no write may have
 * touched in between must be found by both or by none. Each writer has contacts of its own, so it knows what it touches.
 */
export async function compareWithDatabase(audience: TestAudience, trial: OracleTrial): Promise<OracleReport> {
  const world = await openWorld(audience, trial)
  const { report, random } = world
  let isOver = false
  const writers = [changingContacts(world), importing(world), changingInBulk(world)]
  try {
    for (const writer of writers) await writer.fill?.()
    for (const group of await groupsOf(world)) await rewriteRowGroup(world.columns, group)
    const comparing = async () => {
      while (report.filters < trial.filters || report.kills < trial.kills)
        await orUnavailable(() => compareBatch(world))
      isOver = true
    }
    const paced = async (task: () => Promise<unknown>, filters: number) => {
      for (let next = 0; !isOver; await pause(2)) {
        if (report.filters < next) continue
        await orUnavailable(async () => void (await task()))
        next = report.filters + random() * 2 * filters
      }
    }
    const comparers = Array.from({ length: COMPARERS }, () => comparing().finally(() => (isOver = true)))
    const writing = writers.map(writer => paced(writer.write, FILTERS_PER_WRITE))
    const rewriting = paced(() => rewriteAny(world), FILTERS_PER_REWRITE)
    const killing = paced(() => killRewriter(world), trial.filters / Math.max(1, trial.kills / 2))
    await Promise.all([...comparers, ...writing, rewriting, killing].map(each => each.finally(() => (isOver = true))))
    for (const group of await groupsOf(world)) await checkGroup(world, group)
    return report
  } finally {
    for (const writer of writers) await writer.stop?.()
    await world.close()
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

async function openWorld(audience: TestAudience, trial: OracleTrial) {
  const me = testCaller()
  const organization = me.caller.organizationId
  const logger = createLogger({ service: 'audience', level: 'silent' })
  const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
  const data: Data = { store, collections: collections(store), logger }
  for (const { slug, type } of definitions.values())
    await audience.attributes.createAttribute({ name: slug, slug, type, options: [] }, me)
  const report: OracleReport = {
    filters: 0,
    alone: 0,
    compared: 0,
    changes: 0,
    imports: 0,
    undone: 0,
    bulk: 0,
    rewrites: 0,
    kills: 0,
    wrong: [],
  }
  const random = randomNumbers(trial.seed)
  return {
    audience,
    trial,
    report,
    random,
    pick: <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!,
    me,
    organization,
    store,
    data,
    tenant: data.collections.of(organization),
    positions: contactPositions(data, organization),
    columns: columnData(data, organization),
    matcher: createPatternMatcher(),
    writes: createWrites(),
    /** Batches of filters so far. */
    batches: 0,
    close: () => store.close(),
  }
}

/** Knows which positions are being written, and which were while something else went on. */
function createWrites() {
  const running = new Set<Reach>()
  const watches = new Set<(reach: Reach) => void>()
  return {
    /** Runs a write. One that fails by a lack of time or of a server may take effect later. */
    async during<T>(reach: Reach, write: () => Promise<T>): Promise<T | undefined> {
      running.add(reach)
      for (const watch of watches) watch(reach)
      try {
        const result = await write()
        running.delete(reach)
        return result
      } catch (error) {
        if (!(error instanceof AppError && error.status >= 500)) throw error
        void pause(UNSETTLED_MS).then(() => running.delete(reach))
        return undefined
      }
    },
    /** Collects what is written from now on until `end`, which returns whether a position may have changed. */
    watch() {
      const changed = new Set<number>()
      let lowest = Number.POSITIVE_INFINITY
      const add = ({ positions, above }: Reach) => {
        for (const position of positions) changed.add(position)
        lowest = Math.min(lowest, above)
      }
      for (const reach of running) add(reach)
      watches.add(add)
      return {
        end() {
          watches.delete(add)
          return (position: number) => changed.has(position) || position > lowest
        },
      }
    },
  }
}

/** Searches a batch of filters in the columns, asks the database the same, and compares. */
async function compareBatch(world: World): Promise<void> {
  const { report, trial, tenant, store, positions, matcher, writes } = world
  const seed = trial.seed + world.batches++
  const sampled = fc.sample(contactFilters, { numRuns: BATCH, seed }).map(filter => JSON.stringify(filter))
  const filters = sampled.filter(isAccepted)
  const parsed = filters.map(text => parseFilter(text, fields))
  const notes = trial.ignoresStale ? { stream: async function* () {} } : tenant.staleRows
  const { rowGroups, columnChunks } = tenant
  const direct = { rowGroups, columnChunks, staleRows: notes } as ColumnScopes
  const options = { positions, fields: contactColumns, matcher }
  const alone = listColumns(store, direct, options)
  const watch = writes.watch()
  const together = listColumns(store, remembered(direct), { ...options, positions: rememberedPositions(positions) })
  const answered: { index: number; found: readonly number[] }[] = []
  for (const [index, filter] of parsed.entries()) {
    const isAlone = index % ALONE_EVERY === 0
    const columns = isAlone ? alone : together
    const rows = await columns.search({ records: tenant.contacts, filter, unique: ['emailKey'] })
    if (!rows) continue
    if (isAlone) report.alone++
    answered.push({ index, found: rows.highest(Number.MAX_SAFE_INTEGER) })
  }
  const facets = answered.map(({ index }) => [
    `f${index}`,
    [{ $match: parsed[index]! }, { $project: { _id: 0, position: 1 } }],
  ])
  const [plain, all] = await Promise.all([
    tenant.contacts.aggregate<Record<string, { position: number }[]>>([
      { $match: {} },
      { $facet: Object.fromEntries(facets) },
    ]),
    tenant.contacts.count(),
  ])
  const isTouched = watch.end()
  const before = report.filters
  for (const { index, found } of answered) {
    const expected = new Set((plain[0]?.[`f${index}`] ?? []).map(({ position }) => position))
    const actual = new Set(found)
    const differ = [...expected, ...actual].filter(position => expected.has(position) !== actual.has(position))
    const wrong = differ.filter(position => !isTouched(position))
    report.filters++
    report.compared += all
    if (wrong.length > 0) report.wrong.push(`${filters[index]} of ${wrong.slice(0, 5)} (seed ${seed})`)
  }
  const steps = (filters: number) => Math.floor(filters / FILTERS_PER_PROGRESS)
  if (steps(report.filters) > steps(before)) trial.onProgress?.(report)
}

/** Whether a filter is within the limits of the API. */
function isAccepted(filter: string): boolean {
  try {
    parseFilter(filter, fields)
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return false
  }
}

/** The collections of columns, read once: what a search reads is the same as a moment ago. */
function remembered(scopes: ColumnScopes): ColumnScopes {
  const once = <S extends { stream: ColumnScopes['rowGroups']['stream'] }>(scope: S) => {
    const known = new Map<string, Promise<object[]>>()
    return {
      async *stream(stages: object[], options: object) {
        const key = JSON.stringify(stages)
        const read = known.get(key) ?? allOf(scope.stream<object>(stages as never, options as never))
        known.set(key, read)
        for (const record of await read) yield { ...record, ...copyOfPositions(record) }
      },
    } as never
  }
  return {
    rowGroups: once(scopes.rowGroups),
    columnChunks: once(scopes.columnChunks),
    staleRows: once(scopes.staleRows as never),
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** A search changes the positions of notes that it has read. */
function copyOfPositions(record: object) {
  return 'positions' in record ? { positions: [...(record.positions as number[])] } : {}
}

function rememberedPositions(positions: Positions): Positions {
  let read: ReturnType<Positions['read']> | undefined
  let unnoted: ReturnType<Positions['unnoted']> | undefined
  return {
    ...positions,
    read: () => (read ??= positions.read()),
    unnoted: () => (unnoted ??= positions.unnoted()),
  }
}

type Writer = { fill?(): Promise<void>; write(): Promise<unknown>; stop?(): Promise<unknown> }

/** Changes contacts one by one: by the service, and as a release does that stores values of other kinds. */
function changingContacts(world: World): Writer {
  const { audience, me, pick, random, report, store, tenant, positions, writes } = world
  const emailOf = (number: number) => `changed${number}@example.com`
  const changes = [
    (id: string) => audience.contacts.updateContact({ id, name: oddContact(number()).name }, me),
    (id: string) => audience.contacts.updateAttributes({ id, attributes: { score: number() % 50, city: 'Rome' } }, me),
    (id: string) => audience.contacts.replaceTags({ id, tags: oddContact(number()).tags.slice(0, 3) }, me),
    (id: string) => audience.contacts.blockContact({ id, reason: pick(['asked', 'spam']) }, me),
    (id: string) => audience.contacts.unblockContact({ id }, me),
    (id: string) => audience.contacts.updateContact({ id, unsubscribed: random() < 0.5 }, me),
  ]
  const number = () => Math.floor(random() * 1000)
  const storeOdd = (position: number) =>
    store.transaction(async tx => {
      await tenant.contacts.updateOne({ position }, { $set: oddContact(number()) }, { tx })
      await positions.invalidate(tx, [position])
    })
  return {
    fill: () => addSparsely(world, emailOf),
    async write() {
      const contact = await tenant.contacts.findOne({ emailKey: emailOf(Math.floor(random() * CONTACTS)) })
      if (!contact) return
      const { _id, position } = contact
      const reach = { positions: [position], above: Number.POSITIVE_INFINITY }
      const write = random() < 0.5 ? () => storeOdd(position) : () => pick(changes)(String(_id))
      await writes.during(reach, () => refusable(write))
      report.changes++
    },
  }
}

/** Adds contacts far from each other: the positions between them are holes. */
async function addSparsely(world: World, emailOf: (number: number) => string): Promise<void> {
  const { store, tenant, positions } = world
  for (let number = 0; number < CONTACTS; number++)
    await store.transaction(async tx => {
      const { first, at } = await positions.take(tx, GAP)
      const email = emailOf(number)
      const createdBy = { kind: 'user', id: String(tenant.contacts.organization), name: 'User One' } as const
      const fresh = {
        ...untouched,
        email,
        emailKey: email,
        attributes: {},
        tags: [],
        source: 'api',
        createdBy,
      } as const
      const contact = { ...placed(tenant.contacts.organization, fresh as never, first, at), ...oddContact(number) }
      await tenant.contacts.bulkWrite([insertOf(contact as never)], { tx })
      await positions.release(
        tx,
        Array.from({ length: GAP - 1 }, (_, index) => first + 1 + index),
      )
    })
}

/** Applies batches of imports and undoes them, by a process that is killed now and then. */
function importing(world: World): Writer {
  const { audience, me, trial, pick, random, report, tenant, positions, writes } = world
  const applied: { jobId: string; emails: string[] }[] = []
  let replica: Promise<Replica> | undefined
  let nextKill = 0
  const emailOf = (number: number) => `imported${number}@example.com`
  const rowOf = (row: number): Row => {
    const { name, tags } = oddContact(Math.floor(random() * 1000))
    const attributes = { city: pick(['Oslo', 'oslo', 'Rome', 'Zürich']), score: Math.floor(random() * 50) }
    const email = emailOf(Math.floor(random() * CONTACTS))
    return { row, email, name, attributes, tags, clearTags: random() < 0.2, unsubscribed: random() < 0.2 }
  }
  /** Sends a batch. If its receiver is killed, it is sent again to the other one. */
  const send = async (call: (batches: TestAudience['batches']) => Promise<unknown>) => {
    const killsHere = trial.kills / 2
    if (report.kills >= trial.kills || report.filters < nextKill) return call(audience.batches)
    nextKill = report.filters + trial.filters / Math.max(1, killsHere)
    replica ??= audience.replica()
    const victim = await replica
    const answer = call(victim.batches).catch(() => undefined)
    await pause(random() * 30)
    await victim.kill('SIGKILL')
    report.kills++
    replica = report.kills < trial.kills ? audience.replica() : undefined
    await answer
    return call(audience.batches)
  }
  return {
    stop: async () => (await replica)?.kill('SIGKILL'),
    async write() {
      const known = random() < 0.4 ? applied.pop() : undefined
      const jobId = known?.jobId ?? String(new Types.ObjectId())
      const rows = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, row) => rowOf(row + 1))
      const emails = known?.emails ?? rows.map(({ email }) => email)
      const contacts = await tenant.contacts.find({ emailKey: { $in: emails } })
      const reach = { positions: contacts.map(({ position }) => position), above: (await positions.read()).last }
      const batch = { jobId, number: 0, duplicateStrategy: 'update', tags: [], listIds: [], rows }
      await writes.during(reach, () =>
        send(batches => (known ? batches.undoBatch({ jobId, number: 0 }, me) : batches.applyBatch(batch, me))),
      )
      if (known) report.undone++
      else {
        report.imports++
        applied.push({ jobId, emails })
        if (applied.length > 5) applied.shift()
      }
    },
  }
}

/** Creates and deletes contacts, and changes, deletes and restores several by bulk jobs. */
function changingInBulk(world: World): Writer {
  const { audience, me, pick, random, report, tenant, positions, writes } = world
  const bulk = audience.client('rollcall.audience.v1.Bulk')
  const emailOf = (number: number) => `bulk${number}@example.com`
  const none = { contactIds: [], emails: [] }
  const ended = (jobId: string) =>
    eventually('the job ends', async () => {
      const { state } = await jsonOf<{ state: string }>(bulk.getBulkJob({ jobId }, me))
      return state === 'completed' || state === 'failed'
    })
  const runJob = async (start: Promise<{ jobId: string }>) => {
    const { jobId } = await start
    await ended(jobId)
    return jobId
  }
  return {
    fill: () => addSparsely(world, emailOf),
    async write() {
      const emails = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
        emailOf(Math.floor(random() * CONTACTS)),
      )
      const contacts = await tenant.contacts.find({ emailKey: { $in: emails } })
      const reach = { positions: contacts.map(({ position }) => position), above: (await positions.read()).last }
      const contactIds = contacts.map(({ _id }) => String(_id))
      const addTags = [pick(['a', 'bulk'])]
      const change = { addTags, removeTags: ['b'], addToLists: [], removeFromLists: [], attributes: { city: 'Bulk' } }
      await writes.during(reach, () =>
        refusable(async () => {
          if (contacts.length === 0) return audience.contacts.createContact({ email: emails[0]!, tags: ['a'] }, me)
          if (random() < 0.3) return audience.contacts.deleteContact({ id: contactIds[0]! }, me)
          const start =
            random() < 0.5
              ? bulk.changeContacts({ ...none, contactIds, change }, me)
              : bulk.deleteContacts({ ...none, contactIds }, me)
          const jobId = await runJob(start)
          return random() < 0.7 ? runJob(bulk.undoBulkJob({ jobId }, me)) : undefined
        }),
      )
      report.bulk++
    },
  }
}

/** Lets work be given up for a lack of time or of a server: it is done again. */
async function orUnavailable(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof AppError && error.status >= 500)) throw error
    await pause(1000)
  }
}

/** Lets a call be refused: a contact may have changed since it was chosen. */
async function refusable(call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!(error instanceof AppError && error.status < 500)) throw error
  }
}

async function groupsOf({ positions }: World): Promise<number[]> {
  const { last } = await positions.read()
  return Array.from({ length: Math.ceil(last / 4096) }, (_, group) => group)
}

async function rewriteAny(world: World): Promise<void> {
  const { columns, pick, report } = world
  if (await rewriteRowGroup(columns, pick(await groupsOf(world)))) report.rewrites++
}

/** Starts a program that rewrites columns, and kills it in the middle of that. */
async function killRewriter(world: World): Promise<void> {
  const { store, organization, random, report, trial } = world
  if (report.kills >= trial.kills) return
  const script = new URL('./columns-oracle.child.ts', import.meta.url)
  await killAtWork(script, [store.connection.name, organization], { random, withinMs: 50 })
  report.kills++
}

/** The columns of a group must equal its contacts, apart from stale rows. */
async function checkGroup({ columns, report }: World, group: number): Promise<void> {
  const wrong = await eventually('a check between rewrites', () => checkRowGroup(columns, group))
  if (wrong.length > 0) report.wrong.push(`columns of group ${group} at ${wrong.slice(0, 5)}`)
}

/** A sequence of numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
