import type { PipelineStage } from 'mongoose'
import { blocksOf, type PositionMap, type Positions, rangeOf } from './positions.ts'
import type { Filter, Scope, SortOrder } from './scope.ts'

/** Records of a list in its order, by page or all of them. */
export type Source<T> = {
  page(skip: number, limit: number): Promise<{ docs: T[]; total: number }>
  /** Every record, some at a time, in constant memory. */
  batches(): AsyncIterable<T[]>
}

/** What a list is drawn from, apart from what the client asks. */
export type Selection<T extends object> = {
  scope: Scope<T>
  /** Conditions on stored fields that bound the list; best those of an index. */
  base?: Filter | undefined
  /** Stages between those conditions and the client's filter, for records that are not stored as they are shown. */
  stages?: PipelineStage[] | undefined
}

const BATCH = 500
/** From here on a page is read from the nearer end of the list. */
const DEEP_SKIP = 1000

/** Records found by conditions, sorted by the database. */
export function querySource<T extends object>(
  { scope, base = {}, stages = [] }: Selection<T>,
  filter: Filter,
  order: SortOrder,
  knownTotal?: () => Promise<number>,
): Source<T> {
  const hasFilter = Object.keys(filter).length > 0
  // One $match where an index can serve all of it; else the base bounds what the client's filter is tried on.
  const separate = stages.length > 0 || (Object.keys(base).length > 0 && hasFilter)
  const matches: PipelineStage[] = separate
    ? [{ $match: base }, ...stages, ...(hasFilter ? [{ $match: filter }] : [])]
    : [{ $match: { ...base, ...filter } }]

  const total = async () => {
    if (knownTotal && !hasFilter) return knownTotal()
    const [counted] = await scope.aggregate<{ n: number }>([...matches, { $group: { _id: 1, n: { $sum: 1 } } }])
    return counted?.n ?? 0
  }
  const read = (sort: SortOrder, skip: number, limit: number) =>
    scope.aggregate<T>([...matches, { $sort: sort }, ...(skip > 0 ? [{ $skip: skip }] : []), { $limit: limit }])

  return {
    async page(skip, limit) {
      if (skip < DEEP_SKIP) {
        const [docs, count] = await Promise.all([read(order, skip, limit), total()])
        return { docs, total: count }
      }
      const count = await total()
      const wanted = Math.min(limit, count - skip)
      if (wanted <= 0) return { docs: [], total: count }
      if (skip <= count / 2) return { docs: await read(order, skip, wanted), total: count }
      const fromEnd = await read(reversed(order), count - skip - wanted, wanted)
      return { docs: fromEnd.reverse(), total: count }
    },
    batches: () => inBatches(scope.stream<T>([...matches, { $sort: order }], { batchSize: BATCH })),
  }
}

/** Records of a list with positions: newest first, or oldest first. */
export function positionedSource<T extends object>(
  { scope, base = {} }: Selection<T>,
  positions: Positions,
  oldestFirst: boolean,
): Source<T> {
  const read = async (low: number, high: number, skip: number, limit: number) => {
    const position = { $gte: low, $lte: high }
    const stages: PipelineStage[] = [{ $match: { ...base, position } }, { $sort: { position: -1 } }]
    return scope.aggregate<T>([...stages, ...(skip > 0 ? [{ $skip: skip }] : []), { $limit: limit }])
  }
  const readBlock = async ({ low, high, count }: { low: number; high: number; count: number }) => {
    const docs = await read(low, high, 0, count)
    return oldestFirst ? docs.reverse() : docs
  }

  return {
    async page(skip, limit) {
      const map = await positions.read()
      const range = oldestFirst ? oldestRange(map, skip, limit) : rangeOf(map, skip, limit)
      if (!range) return { docs: [], total: map.total }
      const docs = await read(range.low, range.high, range.skip, range.limit)
      return { docs: oldestFirst ? docs.reverse() : docs, total: map.total }
    },
    async *batches() {
      const blocks = [...blocksOf(await positions.read())]
      if (oldestFirst) blocks.reverse()
      let next = blocks[0] && readBlock(blocks[0])
      for (let index = 1; next; index++) {
        const docs: T[] = await next
        next = blocks[index] && readBlock(blocks[index]!) // read while the last one is written out
        next?.catch(() => undefined) // it is awaited, or nobody wants it any more
        yield docs
      }
    },
  }
}

function oldestRange(map: PositionMap, skip: number, limit: number) {
  const wanted = Math.min(limit, map.total - skip)
  return wanted > 0 ? rangeOf(map, map.total - skip - wanted, wanted) : undefined
}

function reversed(order: SortOrder): SortOrder {
  return Object.fromEntries(Object.entries(order).map(([field, direction]) => [field, direction === 1 ? -1 : 1]))
}

async function* inBatches<T>(docs: AsyncIterable<T>): AsyncIterable<T[]> {
  let batch: T[] = []
  for await (const doc of docs) {
    batch.push(doc)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
