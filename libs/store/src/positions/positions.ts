import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { type ClientSession, type Connection, type mongo, Schema, type Types } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { retrySoon, retryTransaction, translateErrors } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { type Filter, objectId, type Scope } from '../tenancy/scope.ts'
import { incrementCounter, incrementCounterExclusively, readCounter } from './counters.ts'

/**
 * Positions make any page of a long list as cheap as the first one. Each record gets the next integer when it is created
 * (its field `position`), in the transaction that creates it. Deleted records leave holes. The register of the list counts
 * the holes in each block of positions, so the range of any page is computed, and read from a short range of the index
 * {organization, …, position}.
 */
export type Positions = {
  /**
   * Reserves `count` positions from `first` on, and a creation time later than that of every earlier record. With that
   * time, and ids made in order, the list is also in order of `createdAt`, `_id`.
   * @param options `isFirst`: the transaction has done nothing before, so a conflict with another one is retried soon
   */
  take(tx: ClientSession, count: number, options?: { isFirst?: boolean }): Promise<{ first: number; at: Date }>
  /** Returns the last `count` positions that the same transaction took. */
  giveBack(tx: ClientSession, count: number): Promise<void>
  /** Releases the positions of deleted records. Call it in the transaction that deletes them. */
  release(tx: ClientSession, positions: readonly number[]): Promise<void>
  /**
   * Invalidates the cached match counts. Call it in the transaction that changes records without adding or removing any.
   */
  invalidate(tx: ClientSession): Promise<void>
  /**
   * Conflicts with every transaction that takes or releases positions. Call it first in a transaction, which is then
   * retried soon instead of failing at its end.
   */
  lockMembership(session: ClientSession): Promise<void>
  /**
   * Takes the exclusive lock: conflicts with every transaction that changes the list, so one of the two is retried. For
   * changes that every writer must see, such as the set of fields.
   */
  lockAll(session: ClientSession): Promise<void>
  /**
   * Recounts the records of the list and corrects its register, while writers continue. Returns the stored and the actual
   * number of records; undefined if the register was right.
   * @param base selects the records of the scope that are on the list
   */
  repair<T extends object>(scope: Scope<T>, base?: Filter): Promise<{ was: number; is: number } | undefined>
  /** Deletes the register, once all records of the list are deleted. */
  drop(tx: ClientSession): Promise<void>
  read(tx?: ClientSession): Promise<PositionMap>
  /** A number that differs after every change of the list. */
  changes(): Promise<number>
  /** The result of the last `read` in this process; it may be stale. */
  recent(): PositionMap | undefined
}

/** The register of a list. */
export type PositionMap = {
  /** Number of records. */
  total: number
  /** The highest position ever taken. */
  last: number
  /** Increases whenever positions are taken, released or locked. */
  changes: number
  /** Number of deleted records, by block of positions. */
  holes: ReadonlyMap<number, number>
}

/** Positions in a block: 1 to 1024 are block 0. */
export const BLOCK = 1024

/** How long a repair retries after conflicts with writers. */
const REPAIR_MS = 300_000

type Register = {
  organization: Types.ObjectId
  name: string
  last: number
  total: number
  changes: number
  at: Date
  holes: Record<string, number>
}

const registerSchema = new Schema<Register>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    last: { type: Number, required: true },
    total: { type: Number, required: true },
    changes: { type: Number, required: true },
    at: { type: Date, required: true },
    holes: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'positions', versionKey: false, minimize: false },
)
registerSchema.index({ organization: 1, name: 1 }, { unique: true })

/** Declares the collection of registers, for `migrate`. */
export function positionModel(store: Pick<Store, 'model'>) {
  return store.model('Positions', registerSchema)
}

/** By connection, then by organization and name. */
const recentMaps = new WeakMap<Connection, LRUCache<string, PositionMap>>()
const RECENT_LISTS = 1000

function recentOf(connection: Connection): LRUCache<string, PositionMap> {
  const known = recentMaps.get(connection) ?? new LRUCache<string, PositionMap>({ max: RECENT_LISTS })
  recentMaps.set(connection, known)
  return known
}

/** The positions of one list of an organization, for example `contacts`. */
export function positions(store: Store, organizationId: string | Types.ObjectId, name: string): Positions {
  const registers = positionModel(store).collection
  const key = { organization: objectId(organizationId, 'organization'), name }
  const touches = { organization: key.organization, name: `changes of ${name}` }
  const seen = recentOf(store.connection)
  const seenKey = `${key.organization} ${name}`
  const find = (options: mongo.FindOptions = {}) =>
    translateErrors(registers.findOne<Register>(key, { maxTimeMS: READ_MS, ...options }))

  return {
    async take(tx, count, { isFirst = false } = {}) {
      const now = new Date()
      const advance = { $inc: { last: count, total: count, changes: 1 }, $max: { at: now } }
      const options = { session: tx, returnDocument: 'before', projection: { last: 1, at: 1 } } as const
      // One command reads and locks: another transaction that takes positions conflicts with it.
      const taking = translateErrors(registers.findOneAndUpdate(key, advance, options))
      const before = await (isFirst ? taking.catch(retrySoon) : taking)
      if (!before) {
        const fresh = { ...key, last: count, total: count, changes: 1, at: now, holes: {} }
        await translateErrors(registers.insertOne(fresh, { session: tx })).catch(retryTransaction)
        return { first: 1, at: now }
      }
      const first = before.last + 1
      if (before.at < now) return { first, at: now }
      const at = new Date(before.at.getTime() + 1)
      await translateErrors(registers.updateOne(key, { $set: { at } }, { session: tx }))
      return { first, at }
    },
    async giveBack(tx, count) {
      if (count === 0) return
      await translateErrors(registers.updateOne(key, { $inc: { last: -count, total: -count } }, { session: tx }))
    },
    async release(tx, gone) {
      if (gone.length === 0) return
      const changes: Record<string, number> = { total: -gone.length, changes: 1 }
      for (const position of gone) {
        const hole = `holes.${blockOf(position)}`
        changes[hole] = (changes[hole] ?? 0) + 1
      }
      await translateErrors(registers.updateOne(key, { $inc: changes }, { session: tx }))
    },
    invalidate: tx => incrementCounter(tx, touches, 1), // not in the register, where writers would conflict
    async lockMembership(tx) {
      await translateErrors(registers.updateOne(key, { $inc: { changes: 1 } }, { session: tx })).catch(retrySoon)
    },
    async lockAll(tx) {
      const fresh = { last: 0, total: 0, at: new Date(), holes: {} }
      const move = { $inc: { changes: 1 }, $setOnInsert: fresh } // upserted, so that it conflicts with the first `take` too
      await translateErrors(registers.updateOne(key, move, { session: tx, upsert: true })).catch(retryTransaction)
      await incrementCounterExclusively(tx, touches)
    },
    repair: (scope, base) =>
      store.transaction(
        async tx => {
          const register = await find({ session: tx })
          const found = await countRecords(scope, base, tx)
          const last = Math.max(found.last, register?.last ?? 0) // no position is taken twice
          const right = { last, total: found.total, holes: holesOf(found.counts, last) }
          if (isDeepStrictEqual(right, stateOf(register))) return undefined
          if (register)
            await translateErrors(registers.updateOne(key, { $set: right, $inc: { changes: 1 } }, { session: tx }))
          else
            await translateErrors(
              registers.insertOne({ ...key, ...right, changes: 1, at: new Date() }, { session: tx }),
            ).catch(retryTransaction)
          return { was: register?.total ?? 0, is: right.total }
        },
        { timeoutMs: REPAIR_MS },
      ),
    async drop(tx) {
      await translateErrors(registers.deleteOne(key, { session: tx }))
    },
    async changes() {
      // Numbers that a failover rolls back come again, for other changes.
      const committed = { readConcern: 'majority' } as const
      const [register, touched] = await Promise.all([
        find({ projection: { changes: 1 }, ...committed }),
        readCounter(store, touches, committed),
      ])
      return (register?.changes ?? 0) + touched
    },
    recent: () => seen.get(seenKey),
    async read(tx) {
      const register = await find(tx && { session: tx })
      const holes = new Map(Object.entries(register?.holes ?? {}).map(([block, count]) => [Number(block), count]))
      const { total = 0, last = 0, changes = 0 } = register ?? {}
      const map = { total, last, changes, holes }
      if (!tx) seen.set(seenKey, map) // an uncommitted register may be rolled back
      return map
    },
  }
}

/** The organizations that have a list of this name. */
export function organizationsWith(store: Store, name: string): Promise<Types.ObjectId[]> {
  return translateErrors(positionModel(store).collection.distinct('organization', { name })) as Promise<
    Types.ObjectId[]
  >
}

/** The comparable part of a register; zeros if there is none. */
function stateOf(register: Register | null): Pick<Register, 'last' | 'total' | 'holes'> {
  const { last = 0, total = 0, holes = {} } = register ?? {}
  return { last, total, holes }
}

/** Counts the actual records: in all, the highest position, and per block. */
async function countRecords<T extends object>(scope: Scope<T>, base: Filter = {}, tx: ClientSession) {
  const blocks = await scope.aggregate<{ _id: number; count: number; last: number }>(
    [{ $match: base }, { $group: { _id: startOfSpan(BLOCK), count: { $sum: 1 }, last: { $max: '$position' } } }],
    { tx, maxTimeMs: REPAIR_MS },
  )
  return {
    last: Math.max(0, ...blocks.map(({ last }) => last)),
    total: blocks.reduce((sum, { count }) => sum + count, 0),
    counts: new Map(blocks.map(({ _id, count }) => [_id / BLOCK, count])),
  }
}

/** A pipeline expression: the last position before the span of `size` positions that contains a record's position. */
export function startOfSpan(size: number) {
  const index = { $subtract: ['$position', 1] }
  return { $subtract: [index, { $mod: [index, size] }] }
}

/** Number of holes in each block. */
function holesOf(counts: ReadonlyMap<number, number>, last: number): Record<string, number> {
  const holes: Record<string, number> = {}
  for (let block = 0; block <= blockOf(last); block++) {
    const lost = Math.min(BLOCK, last - block * BLOCK) - (counts.get(block) ?? 0)
    if (lost > 0) holes[block] = lost
  }
  return holes
}

/** Positions from `low` to `high`, and the number of matching records among them. */
export type Block = { low: number; high: number; count: number }

/** The blocks that contain records, newest first. */
export function* blocksOf({ last, holes }: Pick<PositionMap, 'last' | 'holes'>): Generator<Block> {
  for (let block = blockOf(last); block >= 0; block--) {
    const low = block * BLOCK + 1
    const high = Math.min(last, low + BLOCK - 1)
    const count = high - low + 1 - (holes.get(block) ?? 0)
    if (count > 0) yield { low, high, count }
  }
}

/**
 * Finds the records of ranks `skip` to `skip + limit - 1`, counted from the newest, in blocks ordered newest first. They are
 * between `low` and `high`, after `skip` records from `high` on. Undefined if there are none.
 */
export function rangeOf(
  blocks: Iterable<Block>,
  skip: number,
  limit: number,
): { low: number; high: number; skip: number } | undefined {
  if (limit <= 0) return undefined
  let newest: Location | undefined
  let before = 0
  for (const block of blocks) {
    if (!newest && skip < before + block.count) newest = locate(block, skip - before)
    const oldest = skip + limit - 1 - before
    if (newest && oldest < block.count) return { low: locate(block, oldest).low, high: newest.high, skip: newest.skip }
    before += block.count
  }
  return undefined
}

/** A record is between `low` and `high`, after `skip` others from `high` on. */
type Location = { low: number; high: number; skip: number }

/** In a block without holes, a record's rank determines its position. */
function locate({ low, high, count }: Block, rank: number): Location {
  const isDense = count === high - low + 1
  return isDense ? { low: high - rank, high: high - rank, skip: 0 } : { low, high, skip: rank }
}

/** Ranges of at most `size` positions (a multiple of `BLOCK`) that contain all records, newest first. */
export function* spansOf(
  map: Pick<PositionMap, 'last' | 'holes'>,
  size: number,
): Generator<{ low: number; high: number }> {
  let span: { low: number; high: number } | undefined
  for (const { low, high } of blocksOf(map)) {
    if (span && span.high - low < size) span.low = low
    else {
      if (span) yield span
      span = { low, high }
    }
  }
  if (span) yield span
}

function blockOf(position: number): number {
  return Math.floor((position - 1) / BLOCK)
}
