import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { type ClientSession, type Connection, Schema, type Types } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { mapped, startAgain } from '../tenancy/errors.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { type Filter, objectId, type Scope } from '../tenancy/scope.ts'
import { moveCounter, moveCounterAlone, readCounter } from './counters.ts'

/**
 * Positions make any page of a long list as cheap as its first one. Each record of the list gets the next whole number
 * when it is created (its field `position`), in the transaction that creates it. Positions are dense but for records
 * deleted since; how many of those each block of positions has lost is kept beside the last position given out. So the
 * place of any page is a matter of arithmetic, and the page a short range of the index {organization, …, position}.
 */
export type Positions = {
  /**
   * Reserves `count` positions, `first` and those after it, and a time of creation later than that of all records
   * before: with it (and ids made in order) the list is in order of `createdAt`, `_id` too.
   */
  take(session: ClientSession, count: number): Promise<{ first: number; at: Date }>
  /** Gives back the positions of deleted records, in the transaction that deletes them. */
  release(session: ClientSession, positions: readonly number[]): Promise<void>
  /** Tells that records of the list change otherwise, in the transaction that changes them; `MatchMemory` lives by it. */
  touch(session: ClientSession): Promise<void>
  /** The same for long work: meets whatever takes or releases places now, not when the work is done. */
  lock(session: ClientSession): Promise<void>
  /**
   * Meets every change of the list that is told of, in whatever way: its transaction comes to its end before this one, or
   * begins again after it. For what all of them have to see, such as which fields there are.
   */
  fence(session: ClientSession): Promise<void>
  /**
   * Counts the records of the list anew, beside writers that go on, and sets right what is known of their positions.
   * Answers how many there were said to be and how many there are; undefined where nothing was wrong.
   * @param base which records are on the list, of those of the scope
   */
  repair<T extends object>(scope: Scope<T>, base?: Filter): Promise<{ was: number; is: number } | undefined>
  /** Forgets the list, once all its records are gone. */
  drop(session: ClientSession): Promise<void>
  read(session?: ClientSession): Promise<PositionMap>
  /** Another number after every change of the list that was told of, in whatever way. */
  changes(): Promise<number>
  /** What was read last in this process, if anything: a guess. */
  recent(): PositionMap | undefined
}

/** How the positions of a list stand. */
export type PositionMap = {
  /** Records there are. */
  total: number
  /** The highest position given out. */
  last: number
  /** Another one whenever places were taken, released or locked. */
  changes: number
  /** Records deleted, by block of positions. */
  holes: ReadonlyMap<number, number>
}

/** Positions in a block: 1 to 1024 are block 0. */
export const BLOCK = 1024

/** A repair counts again whatever was written meanwhile, and gives way to it for so long. */
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

/** Declares the collection of the registers, for `migrate`. */
export const positionModel = (store: Pick<Store, 'model'>) => store.model('Positions', registerSchema)

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
  const find = (session?: ClientSession) =>
    mapped(registers.findOne<Register>(key, { maxTimeMS: READ_MS, ...(session && { session }) }))

  return {
    async take(session, count) {
      const register = await find(session)
      const now = new Date()
      if (!register) {
        const fresh = { ...key, last: count, total: count, changes: 1, at: now, holes: {} }
        await mapped(registers.insertOne(fresh, { session })).catch(startAgain)
        return { first: 1, at: now }
      }
      // Whoever else read the same register meets this write, and begins again.
      const at = new Date(Math.max(now.getTime(), register.at.getTime() + 1))
      const advance = { $inc: { last: count, total: count, changes: 1 }, $set: { at } }
      await mapped(registers.updateOne(key, advance, { session }))
      return { first: register.last + 1, at }
    },
    async release(session, gone) {
      if (gone.length === 0) return
      const changes: Record<string, number> = { total: -gone.length, changes: 1 }
      for (const position of gone) {
        const hole = `holes.${blockOf(position)}`
        changes[hole] = (changes[hole] ?? 0) + 1
      }
      await mapped(registers.updateOne(key, { $inc: changes }, { session }))
    },
    touch: session => moveCounter(session, touches, 1), // not in the register: writers of other records never meet
    async lock(session) {
      await mapped(registers.updateOne(key, { $inc: { changes: 1 } }, { session }))
    },
    async fence(session) {
      const fresh = { last: 0, total: 0, at: new Date(), holes: {} }
      const move = { $inc: { changes: 1 }, $setOnInsert: fresh } // made where it is missing: else the first one never meets it
      await mapped(registers.updateOne(key, move, { session, upsert: true })).catch(startAgain)
      await moveCounterAlone(session, touches)
    },
    repair: (scope, base) =>
      store.transaction(
        async session => {
          const register = await find(session)
          const found = await standingOf(scope, base, session)
          const last = Math.max(found.last, register?.last ?? 0) // no place is given out twice
          const right = { last, total: found.total, holes: holesOf(found.counts, last) }
          if (isDeepStrictEqual(right, standing(register))) return undefined
          if (register) await mapped(registers.updateOne(key, { $set: right, $inc: { changes: 1 } }, { session }))
          else
            await mapped(registers.insertOne({ ...key, ...right, changes: 1, at: new Date() }, { session })).catch(
              startAgain,
            )
          return { was: register?.total ?? 0, is: right.total }
        },
        { timeoutMs: REPAIR_MS },
      ),
    async drop(session) {
      await mapped(registers.deleteOne(key, { session }))
    },
    async changes() {
      const [register, touched] = await Promise.all([find(), readCounter(store, touches)])
      return (register?.changes ?? 0) + touched
    },
    recent: () => seen.get(seenKey),
    async read(session) {
      const register = await find(session)
      const holes = new Map(Object.entries(register?.holes ?? {}).map(([block, count]) => [Number(block), count]))
      const { total = 0, last = 0, changes = 0 } = register ?? {}
      const map = { total, last, changes, holes }
      if (!session) seen.set(seenKey, map) // what is not committed may never have been
      return map
    },
  }
}

/** The organizations that have a list of that name. */
export function organizationsWith(store: Store, name: string): Promise<Types.ObjectId[]> {
  return mapped(positionModel(store).collection.distinct('organization', { name })) as Promise<Types.ObjectId[]>
}

/** What a register says of its list; nothing where there is none. */
function standing(register: Register | null): Pick<Register, 'last' | 'total' | 'holes'> {
  const { last = 0, total = 0, holes = {} } = register ?? {}
  return { last, total, holes }
}

/** The records there really are: how many, the highest position among them, and how many there are in each block. */
async function standingOf<T extends object>(scope: Scope<T>, base: Filter = {}, session: ClientSession) {
  const blocks = await scope.aggregate<{ _id: number; count: number; last: number }>(
    [{ $match: base }, { $group: { _id: startOfSpan(BLOCK), count: { $sum: 1 }, last: { $max: '$position' } } }],
    { session, maxTimeMs: REPAIR_MS },
  )
  return {
    last: Math.max(0, ...blocks.map(({ last }) => last)),
    total: blocks.reduce((sum, { count }) => sum + count, 0),
    counts: new Map(blocks.map(({ _id, count }) => [_id / BLOCK, count])),
  }
}

/** In a pipeline: the last position before the span, of so many positions, that a record's position is in. */
export function startOfSpan(size: number) {
  const index = { $subtract: ['$position', 1] }
  return { $subtract: [index, { $mod: [index, size] }] }
}

/** How many records each block lacks of those that had its positions. */
function holesOf(counts: ReadonlyMap<number, number>, last: number): Record<string, number> {
  const holes: Record<string, number> = {}
  for (let block = 0; block <= blockOf(last); block++) {
    const lost = Math.min(BLOCK, last - block * BLOCK) - (counts.get(block) ?? 0)
    if (lost > 0) holes[block] = lost
  }
  return holes
}

/** Positions from `low` to `high` and how many records wanted are among them. */
export type Block = { low: number; high: number; count: number }

/** The blocks that hold records, newest first. */
export function* blocksOf({ last, holes }: Pick<PositionMap, 'last' | 'holes'>): Generator<Block> {
  for (let block = blockOf(last); block >= 0; block--) {
    const low = block * BLOCK + 1
    const high = Math.min(last, low + BLOCK - 1)
    const count = high - low + 1 - (holes.get(block) ?? 0)
    if (count > 0) yield { low, high, count }
  }
}

/**
 * Where the records of ranks `skip` to `skip + limit - 1` are, counted from the newest, in blocks that are given newest
 * first: between `low` and `high`, after skipping `skip` of those. Undefined where there are none.
 */
export function rangeOf(
  blocks: Iterable<Block>,
  skip: number,
  limit: number,
): { low: number; high: number; skip: number } | undefined {
  if (limit <= 0) return undefined
  let newest: Place | undefined
  let before = 0
  for (const block of blocks) {
    if (!newest && skip < before + block.count) newest = placeIn(block, skip - before)
    const oldest = skip + limit - 1 - before
    if (newest && oldest < block.count) return { low: placeIn(block, oldest).low, high: newest.high, skip: newest.skip }
    before += block.count
  }
  return undefined
}

/** A record is between `low` and `high`, after `skip` others from `high` on. */
type Place = { low: number; high: number; skip: number }

/** In a block without gaps its rank says which position a record has. */
function placeIn({ low, high, count }: Block, rank: number): Place {
  const isDense = count === high - low + 1
  return isDense ? { low: high - rank, high: high - rank, skip: 0 } : { low, high, skip: rank }
}

/** Ranges of at most `size` positions, a multiple of `BLOCK`, that hold all records, newest first. */
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
