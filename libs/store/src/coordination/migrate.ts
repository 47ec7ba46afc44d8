import { randomUUID } from 'node:crypto'
import { type Logger, pause } from '@rollcall/runtime'
import type { Collection, Model } from 'mongoose'
import { inboxModel } from '../events/inbox.ts'
import { outboxModel } from '../events/outbox.ts'
import { counterModel } from '../positions/counters.ts'
import { positionModel } from '../positions/positions.ts'
import type { Store } from '../tenancy/connection.ts'
import { quotaModel } from '../tenancy/quota.ts'
import { createLease, leaseModel } from './lease.ts'

/** The result of a migration; indexes as `collection.index`. */
export type Migration = {
  created: string[]
  /** In the database but not in the models. They are kept: an operator decides whether to drop one. */
  undeclared: string[]
}

type Index = { key: Record<string, 1 | -1>; name: string }

/** How often the progress of an index is logged. */
const PROGRESS_MS = 10_000
/** How long a killed holder blocks the others. */
const LEASE_TTL_MS = 5_000

/**
 * Creates the collections and indexes of the store's models, and those of outbox, inbox, counters, positions and leases,
 * collections in parallel. Logs every `progressMs` how far an index is. Idempotent; concurrent migrations run one after
 * another, and one that was interrupted may run again. Rejects if an index of the same name has another definition.
 */
export async function migrate(store: Store, logger: Logger, progressMs = PROGRESS_MS): Promise<Migration> {
  for (const declare of [outboxModel, inboxModel, counterModel, positionModel, quotaModel, leaseModel]) declare(store)
  const migration: Migration = { created: [], undeclared: [] }
  await inTurn(store, async () => {
    const models = Object.values(store.connection.models)
    const existing = await collectionNames(store)
    const report: Report = (collection, index) => setInterval(() => logProgress(collection, index, logger), progressMs)
    const migrated = await Promise.allSettled(models.map(model => migrateModel(model, existing, migration, report)))
    const failed = migrated.find(result => result.status === 'rejected')
    if (failed) throw failed.reason
  })
  migration.created.sort()
  migration.undeclared.sort()
  const { created } = migration
  logger.info({ indexes: created }, created.length > 0 ? 'indexes created' : 'no index is missing')
  if (migration.undeclared.length > 0) logger.warn({ indexes: migration.undeclared }, 'indexes that no model declares')
  return migration
}

async function inTurn(store: Store, work: () => Promise<void>): Promise<void> {
  const lease = createLease(store, 'migration', randomUUID(), LEASE_TTL_MS)
  while (!(await lease.acquire())) await pause(LEASE_TTL_MS / 50)
  let renewal: Promise<unknown> = Promise.resolve()
  const renewing = setInterval(() => {
    renewal = lease.acquire().catch(() => undefined)
  }, LEASE_TTL_MS / 4)
  try {
    await work()
  } finally {
    clearInterval(renewing)
    await renewal // a renewal after the release would acquire the lease again
    await lease.release()
  }
}

/** Logs the progress of an index until the timer is cleared. */
type Report = (collection: Collection, index: string) => NodeJS.Timeout

async function migrateModel(
  model: Model<unknown>,
  existing: ReadonlySet<string>,
  { created, undeclared }: Migration,
  report: Report,
): Promise<void> {
  const { collection } = model
  const declared = declaredIndexes(model)
  const before = existing.has(collection.name) ? await indexNames(collection) : undefined
  if (!before && declared.length === 0) await model.createCollection()
  for (const indexes of inCommands(declared, before)) {
    const reporting = report(collection, indexes.map(({ name }) => name).join())
    await collection.createIndexes(indexes).finally(() => clearInterval(reporting))
    for (const { name } of indexes) if (!before?.has(name)) created.push(`${collection.name}.${name}`)
  }
  const names = new Set(['_id_', ...declared.map(({ name }) => name)])
  for (const name of before ?? []) if (!names.has(name)) undeclared.push(`${collection.name}.${name}`)
}

async function collectionNames({ connection }: Store): Promise<ReadonlySet<string>> {
  const collections = await connection.db!.listCollections({}, { nameOnly: true }).toArray()
  return new Set(collections.map(({ name }) => name))
}

async function indexNames(collection: Collection): Promise<ReadonlySet<string>> {
  return new Set((await collection.indexes()).map(({ name = '' }) => name))
}

/** One command for a new collection; otherwise one for the known indexes, and one for each that is missing: it may take long. */
function inCommands(indexes: readonly Index[], before: ReadonlySet<string> | undefined): Index[][] {
  const known = indexes.filter(({ name }) => !before || before.has(name))
  const missing = indexes.filter(index => !known.includes(index))
  return [known, ...missing.map(index => [index])].filter(some => some.length > 0)
}

/** Logs how far the server is with an index. MongoDB shows the number of keys to users with the privilege `inprog`. */
async function logProgress({ name, conn }: Collection, index: string, logger: Logger): Promise<void> {
  const build = { ns: `${conn.name}.${name}`, msg: { $regex: '^Index Build' }, 'progress.total': { $gt: 0 } }
  const operations = conn
    .getClient()
    .db('admin')
    .aggregate([{ $currentOp: { allUsers: true } }, { $match: build }])
  const [found] = await operations.toArray().catch(() => [])
  logger.info({ index: `${name}.${index}`, ...found?.progress }, 'creating an index')
}

/** Indexes of the schema, and {organization, _id}: some servers need it to find a record by id in an organization. */
function declaredIndexes(model: Model<unknown>): Index[] {
  const indexes = model.schema.indexes() as [Index['key'], Partial<Index> & { background?: boolean }][]
  const byId: Index['key'] = { organization: 1, _id: 1 }
  const hasById = indexes.some(([key]) => Object.keys(key).join() === Object.keys(byId).join())
  const needsById = model.schema.path('organization') && !hasById && !isInternal(model)
  const all: typeof indexes = needsById ? [...indexes, [byId, {}]] : indexes
  return all.map(([key, { background: _, ...options }]) => ({
    name: Object.entries(key).flat().join('_'),
    ...options,
    key,
  }))
}

const internal = new Set(['Counter', 'Positions', 'rowGroups', 'columnChunks', 'staleRows'])

function isInternal(model: Model<unknown>): boolean {
  return internal.has(model.modelName)
}
