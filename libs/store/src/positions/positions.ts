import { LRUCache } from 'lru-cache'
import { type ClientSession, type Connection, type mongo, Schema, type Types } from 'mongoose'
import type { Store } from '../tenancy/connection.ts'
import { retrySoon, retryTransaction, translateErrors } from '../tenancy/errors.ts'
import { oncePerTurn } from '../tenancy/once-per-turn.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import { type Filter, objectId, type Scope } from '../tenancy/scope.ts'
import { incrementCounter, incrementCounterExclusively, readCounter, readUnnoted } from './counters.ts'

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
  /** Takes released positions again. Call it in the transaction that restores the deleted records. */
  reclaim(tx: ClientSession, positions: readonly number[]): Promise<void>
  /**
   * Invalidates the cached match counts, and the columns of the records. Call it in the transaction that changes records
   * without adding or removing any, with the positions of all that it changes.
   */
  invalidate(tx: ClientSession, changed: readonly number[]): Promise<void>
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
  /** Makes `isAwaited` true in all processes for some seconds. Call it when a transaction has waited for positions. */
  announceWait(): Promise<void>
  /** Whether a transaction has waited lately: long ones should then be split. */
  isAwaited(): Promise<boolean>
  /**
   * Recounts the records of the list and corrects its register, while writers continue: block by block, so that no
   * transaction is long. Returns the stored and the actual number of records; undefined if the register was right.
   * @param base selects the records of the scope that are on the list
   */
  repair<T extends object>(scope: Scope<T>, base?: Filter): Promise<{ was: number; is: number } | undefined>
  /** Deletes the register, once all records of the list are deleted. */
  drop(tx: ClientSession): Promise<void>
  read(tx?: ClientSession): Promise<PositionMap>
  /** A number that differs after every change of the list. */
  changes(): Promise<number>
  /**
   * A number that differs after every change by a release that does not know `onChanges`: one that is replaced in a rolling
   * upgrade, or that an operator returned to.
   */
  unnoted(): Promise<number>
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

/** For numbers of changes: those that a failover rolls back come again, for other changes. */
const COMMITTED = { readConcern: 'majority' } as const

/** A change of this release, which calls `onChanges`. */
const ONE_CHANGE = { changes: 1, noted: 1 } as const

/** How long `announceWait` holds. */
const AWAITED_MS = 5000
/** What this process has announced lately, and need not yet announce again. */
const announced = new LRUCache<string, true>({ max: 10_000, ttl: AWAITED_MS / 4 })

/** Blocks that a transaction of a repair counts, in a fraction of a second. */
const REPAIR_BLOCKS = 64

type Register = {
  organization: Types.ObjectId
  name: string
  last: number
  total: number
  changes: number
  /** As `changes`, of releases that call `onChanges`. */
  noted?: number
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
    noted: Number,
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

/** Registers as they were read last, by connection, then by organization and name. */
const recentMaps = new WeakMap<Connection, LRUCache<string, PositionMap>>()
const RECENT_LISTS = 1000

/** Shares reads of registers, by connection. */
const sharedReads = new WeakMap<Connection, ReturnType<typeof oncePerTurn>>()

function sharedReadsOf(connection: Connection): ReturnType<typeof oncePerTurn> {
  const known = sharedReads.get(connection) ?? oncePerTurn()
  sharedReads.set(connection, known)
  return known
}

function recentOf(connection: Connection): LRUCache<string, PositionMap> {
  const known = recentMaps.get(connection) ?? new LRUCache<string, PositionMap>({ max: RECENT_LISTS })
  recentMaps.set(connection, known)
  return known
}

/** What a transaction did to the records of a list, by their positions. */
export type RecordChanges = {
  /** Changed, deleted or restored. */
  changed?: readonly number[]
  added?: { first: number; count: number }
}

/** Options of positions. */
export type PositionsOptions = {
  /** Called in every transaction that changes records: every writer of them goes through their positions. */
  onChanges?: (store: Store, tx: ClientSession, organization: Types.ObjectId, changes: RecordChanges) => Promise<void>
}

/** The positions of one list of an organization, for example `contacts`. */
export function positions(
  store: Store,
  organizationId: string | Types.ObjectId,
  name: string,
  { onChanges = async () => {} }: PositionsOptions = {},
): Positions {
  const registers = positionModel(store).collection
  const waits = store.connection.collection<{ _id: string; until: Date }>('leases')
  const key = { organization: objectId(organizationId, 'organization'), name }
  const touches = { organization: key.organization, name: `changes of ${name}` }
  const waitId = `waiting for ${name} of ${key.organization}`
  const seen = recentOf(store.connection)
  const seenKey = `${key.organization} ${name}`
  const share = sharedReadsOf(store.connection)
  const find = (options: mongo.FindOptions = {}) =>
    translateErrors(registers.findOne<Register>(key, { maxTimeMS: READ_MS, ...options }))

  const update = (changes: { $set?: object; $unset?: Record<string, true> }, tx: ClientSession) =>
    translateErrors(registers.updateOne(key, { ...changes, $inc: ONE_CHANGE }, { session: tx }))

  /** Counts the holes of deleted records, or of restored ones. */
  const changeHoles = async (tx: ClientSession, of: readonly number[], by: 1 | -1) => {
    if (of.length === 0) return
    await onChanges(store, tx, key.organization, { changed: of })
    const changes: Record<string, number> = { total: -by * of.length, ...ONE_CHANGE }
    for (const position of of) {
      const hole = holeOf(blockOf(position))
      changes[hole] = (changes[hole] ?? 0) + by
    }
    await translateErrors(registers.updateOne(key, { $inc: changes }, { session: tx }))
  }

  /** Sees to it that no position is taken twice. */
  const raiseLast = async (records: Records, tx: ClientSession) => {
    const register = await find({ session: tx, projection: { last: 1 } })
    const found = await records.last(tx)
    const last = Math.max(found, register?.last ?? 0)
    const isRaised = last > (register?.last ?? 0)
    const fresh = { ...key, last, total: 0, ...ONE_CHANGE, at: new Date(), holes: {} }
    if (isRaised && register) await update({ $set: { last } }, tx)
    else if (isRaised) await translateErrors(registers.insertOne(fresh, { session: tx })).catch(retryTransaction)
    return { last, isRaised }
  }

  /** Corrects the holes of some blocks. Locks the register only if one is wrong. @returns whether one was */
  const repairHoles = async (records: Records, from: number, isLocked = false): Promise<boolean> => {
    const blocks = Array.from({ length: REPAIR_BLOCKS }, (_, index) => from + index)
    const projection = Object.fromEntries(['last', ...blocks.map(holeOf)].map(path => [path, 1]))
    const isWrong = await store.transaction(async tx => {
      if (isLocked) await update({}, tx).catch(retrySoon)
      const { last, holes } = stateOf(await find({ session: tx, projection }))
      const counts = await records.count(blocks, tx)
      const lost = (block: number) => Math.max(0, sizeOf(block, last) - (counts.get(block) ?? 0))
      const wrong = blocks.filter(block => lost(block) !== (holes[block] ?? 0))
      if (wrong.length > 0 && isLocked) {
        const [gone, kept] = [wrong.filter(block => lost(block) === 0), wrong.filter(block => lost(block) > 0)]
        const $set = Object.fromEntries(kept.map(block => [holeOf(block), lost(block)]))
        const $unset = Object.fromEntries(gone.map(block => [holeOf(block), true as const]))
        await update({ $set, $unset }, tx)
      }
      return wrong.length > 0
    })
    return isWrong && !isLocked ? repairHoles(records, from, true) : isWrong
  }

  const repairTotal = async (isRight: boolean, tx: ClientSession) => {
    const { last, total: was, holes } = stateOf(await find({ session: tx }))
    const kept = Object.entries(holes).filter(([block]) => sizeOf(Number(block), last) > 0)
    const is = kept.reduce((total, [, count]) => total - count, last)
    const hasStray = kept.length < Object.keys(holes).length
    if (isRight && is === was && !hasStray) return undefined
    await update({ $set: { total: is, ...(hasStray && { holes: Object.fromEntries(kept) }) } }, tx)
    return { was, is }
  }

  const readMap = async (tx?: ClientSession): Promise<PositionMap> => {
    const known = tx ? undefined : seen.get(seenKey)
    // The holes of a large list are large themselves: they are read again only after a change.
    const changed = { $cond: [{ $ne: ['$changes', known?.changes] }, '$holes', '$$REMOVE'] }
    const projection = { total: 1, last: 1, changes: 1, holes: known ? changed : 1 }
    const register = await find({ projection, ...(tx ? { session: tx } : COMMITTED) })
    const { total = 0, last = 0, changes = 0, holes = {} } = register ?? {}
    if (known && register && !register.holes) return known
    const map = {
      total,
      last,
      changes,
      holes: new Map(Object.entries(holes).map(([block, count]) => [Number(block), count])),
    }
    if (!tx) seen.set(seenKey, map) // an uncommitted register may be rolled back
    return map
  }

  return {
    async take(tx, count, { isFirst = false } = {}) {
      const now = new Date()
      const advance = { $inc: { last: count, total: count, ...ONE_CHANGE }, $max: { at: now } }
      const options = { session: tx, returnDocument: 'before', projection: { last: 1, at: 1 } } as const
      // One command reads and locks: another transaction that takes positions conflicts with it.
      const taking = translateErrors(registers.findOneAndUpdate(key, advance, options))
      const before = await (isFirst ? taking.catch(retrySoon) : taking)
      if (!before) {
        const fresh = { ...key, last: count, total: count, ...ONE_CHANGE, at: now, holes: {} }
        await translateErrors(registers.insertOne(fresh, { session: tx })).catch(retryTransaction)
        await onChanges(store, tx, key.organization, { added: { first: 1, count } })
        return { first: 1, at: now }
      }
      const first = before.last + 1
      await onChanges(store, tx, key.organization, { added: { first, count } })
      if (before.at < now) return { first, at: now }
      const at = new Date(before.at.getTime() + 1)
      await translateErrors(registers.updateOne(key, { $set: { at } }, { session: tx }))
      return { first, at }
    },
    async giveBack(tx, count) {
      if (count === 0) return
      await translateErrors(registers.updateOne(key, { $inc: { last: -count, total: -count } }, { session: tx }))
    },
    release: (tx, gone) => changeHoles(tx, gone, 1),
    reclaim: (tx, back) => changeHoles(tx, back, -1),
    async invalidate(tx, changed) {
      if (changed.length === 0) return
      await incrementCounter(tx, touches, 1, { isNoted: true }) // not in the register, where writers would conflict
      await onChanges(store, tx, key.organization, { changed })
    },
    async lockMembership(tx) {
      await translateErrors(registers.updateOne(key, { $inc: ONE_CHANGE }, { session: tx })).catch(retrySoon)
    },
    async lockAll(tx) {
      const fresh = { last: 0, total: 0, at: new Date(), holes: {} }
      const move = { $inc: ONE_CHANGE, $setOnInsert: fresh } // upserted, so that it conflicts with the first `take` too
      await translateErrors(registers.updateOne(key, move, { session: tx, upsert: true })).catch(retryTransaction)
      await incrementCounterExclusively(tx, touches, { isNoted: true })
    },
    async repair(scope, base = {}) {
      const records = recordsOf(scope, base)
      const raised = await store.transaction(tx => raiseLast(records, tx))
      let isRight = !raised.isRaised
      for (let block = 0; block <= blockOf(raised.last); block += REPAIR_BLOCKS)
        if (await repairHoles(records, block)) isRight = false
      return store.transaction(tx => repairTotal(isRight, tx))
    },
    async announceWait() {
      if (announced.has(waitId)) return
      announced.set(waitId, true)
      const until = new Date(Date.now() + AWAITED_MS)
      await translateErrors(waits.updateOne({ _id: waitId }, { $max: { until } }, { upsert: true }))
    },
    async isAwaited() {
      const isRecent = { _id: waitId, until: { $gt: new Date() } }
      return (await translateErrors(waits.findOne(isRecent, { maxTimeMS: READ_MS }))) !== null
    },
    async drop(tx) {
      await translateErrors(registers.deleteOne(key, { session: tx }))
    },
    async changes() {
      const [register, touched] = await Promise.all([
        find({ projection: { changes: 1 }, ...COMMITTED }),
        readCounter(store, touches, COMMITTED),
      ])
      return (register?.changes ?? 0) + touched
    },
    async unnoted() {
      const [register, touched] = await Promise.all([
        find({ projection: { changes: 1, noted: 1 }, ...COMMITTED }),
        readUnnoted(store, touches),
      ])
      return (register?.changes ?? 0) - (register?.noted ?? 0) + touched
    },
    recent: () => seen.get(seenKey),
    read: tx => (tx ? readMap(tx) : share(seenKey, readMap)),
  }
}

/** The organizations that have a list of this name. */
export function organizationsWith(store: Store, name: string): Promise<Types.ObjectId[]> {
  return translateErrors(
    positionModel(store).collection.distinct('organization', { name }, { maxTimeMS: READ_MS }),
  ) as Promise<Types.ObjectId[]>
}

/** The part of a register that a repair compares; zeros if there is none. */
function stateOf(register: Register | null): Pick<Register, 'last' | 'total' | 'holes'> {
  const { last = 0, total = 0, holes = {} } = register ?? {}
  return { last, total, holes }
}

/** The records of a list, as a repair counts them. */
type Records = {
  /** Returns the highest position. */
  last(tx: ClientSession): Promise<number>
  /** Returns the number of records of each of the consecutive blocks. */
  count(blocks: readonly number[], tx: ClientSession): Promise<Map<number, number>>
}

function recordsOf<T extends object>(scope: Scope<T>, base: Filter): Records {
  return {
    async last(tx) {
      const newest = await scope.findOne(base, { tx, sort: { position: -1 }, projection: { position: 1 } })
      return (newest as { position: number } | null)?.position ?? 0
    },
    async count(blocks, tx) {
      const position = { $gt: blocks[0]! * BLOCK, $lte: (blocks.at(-1)! + 1) * BLOCK }
      const counted = await scope.aggregate<{ _id: number; count: number }>(
        [{ $match: { ...base, position } }, { $group: { _id: startOfSpan(BLOCK), count: { $sum: 1 } } }],
        { tx },
      )
      return new Map(counted.map(({ _id, count }) => [_id / BLOCK, count]))
    },
  }
}

/** A pipeline expression: the last position before the span of `size` positions that contains a record's position. */
export function startOfSpan(size: number) {
  const index = { $subtract: ['$position', 1] }
  return { $subtract: [index, { $mod: [index, size] }] }
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

/** Positions from `low` to `high`. */
export type Span = { low: number; high: number }

/** Spans that together contain all records of a list. */
export type Spans = {
  /** Returns the next span, of at most `size` positions; undefined after the last one. */
  next(size: number): Span | undefined
  /** Returns the span that `next` returned last, to be cut anew. */
  giveBack(span: Span): void
}

/** Returns the spans of a list, from its newest or its oldest record on. */
export function spansOf(map: Pick<PositionMap, 'last' | 'holes'>, isNewestFirst: boolean): Spans {
  const rest: Span[] = [...blocksOf(map)] // the next one is last
  if (isNewestFirst) rest.reverse()
  const fits = (one: Span, other: Span | undefined, size: number): other is Span =>
    other !== undefined && Math.max(one.high, other.high) - Math.min(one.low, other.low) < size
  return {
    next(size) {
      const first = rest.pop()
      if (!first) return undefined
      let { low, high } = first
      if (high - low >= size) {
        const [near, far] = isNewestFirst ? [high - size + 1, high] : [low, low + size - 1]
        rest.push(isNewestFirst ? { low, high: near - 1 } : { low: far + 1, high })
        return { low: near, high: far }
      }
      for (let other = rest.at(-1); fits({ low, high }, other, size); other = rest.at(-1)) {
        ;({ low, high } = { low: Math.min(low, other.low), high: Math.max(high, other.high) })
        rest.pop()
      }
      return { low, high }
    },
    giveBack: span => void rest.push(span),
  }
}

/** Number of positions in a block, of those up to `last`. */
function sizeOf(block: number, last: number): number {
  return Math.max(0, Math.min(BLOCK, last - block * BLOCK))
}

/** Path of a block's holes in the register. */
function holeOf(block: number): string {
  return `holes.${block}`
}

function blockOf(position: number): number {
  return Math.floor((position - 1) / BLOCK)
}
