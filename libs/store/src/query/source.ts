import type { PipelineStage } from 'mongoose'
import { joined, type RawRecords } from '../tenancy/raw-records.ts'
import { STREAM_MS } from '../tenancy/read-limits.ts'
import type { Filter, Scope, SortOrder } from '../tenancy/scope.ts'

/** Records of a list in its order, in BSON, by page or all of them. */
export type Source = {
  page(skip: number, limit: number): Promise<{ records: RawRecords; total: number }>
  /** Every record, some at a time, in constant memory. */
  batches(): AsyncIterable<RawRecords>
}

/** What a list is drawn from, apart from what the client asks. */
export type Selection<T extends object> = {
  scope: Scope<T>
  /** Conditions on stored fields that bound the list; best those of an index. */
  base?: Filter | undefined
  /** Stages between those conditions and the client's filter, for records that are not stored as they are shown. */
  stages?: PipelineStage[] | undefined
  /** The only stored fields to read, where they are known. */
  select?: Readonly<Record<string, 1>> | undefined
}

const BATCH = 500
/** From here on a page is read from the nearer end of the list, if its order is reversible. */
const DEEP_SKIP = 1000

/** Stages that find the records of a selection that match the client's filter. */
export function matching<T extends object>({ base = {}, stages = [] }: Selection<T>, filter: Filter): PipelineStage[] {
  const hasFilter = Object.keys(filter).length > 0
  // One $match where an index can serve all of it; else the base bounds what the client's filter is tried on.
  const separate = stages.length > 0 || (Object.keys(base).length > 0 && hasFilter)
  if (!separate) return [{ $match: { ...base, ...filter } }]
  return [{ $match: base }, ...stages, ...(hasFilter ? [{ $match: filter }] : [])]
}

/** Stages that put records in order, cut a page out of them, and read no more of them than selected. */
export function cut(
  { select }: { select?: Selection<object>['select'] },
  order: SortOrder,
  skip = 0,
  limit?: number,
): PipelineStage[] {
  return [
    { $sort: order },
    ...(skip > 0 ? [{ $skip: skip }] : []),
    ...(limit === undefined ? [] : [{ $limit: limit }]),
    ...selected({ select }),
  ]
}

function selected({ select }: Pick<Selection<object>, 'select'>): PipelineStage[] {
  return select ? [{ $project: select }] : []
}

/**
 * Splits the stages of a selection, if it can be ordered before fields are added: then an index can hold the order, and
 * fields are added to the records of the page only. Undefined if it cannot.
 */
function lateStages<T extends object>({ base = {}, stages = [] }: Selection<T>, order: SortOrder) {
  const first = stages.findIndex(stage => !('$match' in stage))
  const after = first < 0 ? [] : stages.slice(first)
  const isOrderedBy = (field: string) => Object.keys(order).some(name => name === field || name.startsWith(`${field}.`))
  const isLate = (stage: PipelineStage) => '$addFields' in stage && !Object.keys(stage.$addFields).some(isOrderedBy)
  if (after.length === 0 || !after.every(isLate)) return undefined
  return { before: [{ $match: base }, ...stages.slice(0, first)], after }
}

/** How many records the stages find. */
async function countOf<T extends object>(scope: Scope<T>, stages: PipelineStage[]): Promise<number> {
  const [counted] = await scope.aggregate<{ n: number }>([...stages, { $group: { _id: 1, n: { $sum: 1 } } }])
  return counted?.n ?? 0
}

/** Records found by conditions, sorted by the database. */
export function querySource<T extends object>(
  selection: Selection<T>,
  filter: Filter,
  order: SortOrder,
  { total: knownTotal, isReversible }: { total?: (() => Promise<number>) | undefined; isReversible: boolean },
): Source {
  const { scope } = selection
  const matches = matching(selection, filter)
  const late = Object.keys(filter).length === 0 ? lateStages(selection, order) : undefined
  const ordered = (sort: SortOrder, skip?: number, limit?: number) =>
    late
      ? [...late.before, ...cut({}, sort, skip, limit), ...late.after, ...selected(selection)]
      : [...matches, ...cut(selection, sort, skip, limit)]
  const total = () =>
    knownTotal && Object.keys(filter).length === 0 ? knownTotal() : countOf(scope, late?.before ?? matches)
  const read = (sort: SortOrder, skip: number, limit: number) => readPage(scope, ordered(sort, skip, limit))

  return {
    async page(skip, limit) {
      if (skip < DEEP_SKIP || !isReversible) {
        const [records, count] = await Promise.all([read(order, skip, limit), total()])
        return { records, total: count }
      }
      const count = await total()
      return { records: await fromNearerEnd(read, order, skip, limit, count), total: count }
    },
    async *batches() {
      const options = { batchSize: BATCH, maxTimeMs: STREAM_MS }
      for await (const reply of scope.aggregateRaw(ordered(order), options)) yield joined(reply)
    },
  }
}

/** Reads a page forwards, or from the end of the list and backwards, whichever skips less. */
async function fromNearerEnd(
  read: (order: SortOrder, skip: number, limit: number) => Promise<RawRecords>,
  order: SortOrder,
  skip: number,
  limit: number,
  total: number,
): Promise<RawRecords> {
  const wanted = Math.min(limit, total - skip)
  if (wanted <= 0) return joined([])
  const behind = total - skip - wanted
  return skip <= behind ? read(order, skip, wanted) : backwards(await read(reversed(order), behind, wanted))
}

/** Reads the records of a page: as one reply, or if they are too large for one, by several. */
export async function readPage<T extends object>(scope: Scope<T>, pipeline: PipelineStage[]): Promise<RawRecords> {
  const whole = await scope.aggregateReply(pipeline)
  if (whole) return whole
  const documents: Uint8Array[] = []
  for await (const reply of scope.aggregateRaw(pipeline)) documents.push(...reply)
  return joined(documents)
}

/** The same records in the opposite order. */
export function backwards({ bytes, starts }: RawRecords): RawRecords {
  return { bytes, starts: starts.toReversed() }
}

function reversed(order: SortOrder): SortOrder {
  return Object.fromEntries(Object.entries(order).map(([field, direction]) => [field, direction === 1 ? -1 : 1]))
}
