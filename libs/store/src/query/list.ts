import { clampLimit, clampPage, type HttpBody, json, type ListQuery } from '@rollcall/contract'
import type { ListColumns } from '../columns/columns.ts'
import type { MatchMemory } from '../positions/matches.ts'
import { type ByAge, positionedSource } from '../positions/positioned-source.ts'
import type { Positions } from '../positions/positions.ts'
import { READ_MS, readLimitsOf, until } from '../tenancy/read-limits.ts'
import type { Filter, SortOrder } from '../tenancy/scope.ts'
import { envelope } from './envelope.ts'
import { type FieldTable, invalidParameter } from './fields.ts'
import { parseFilter } from './filter.ts'
import { type Expand, type PopulateMap, parsePopulate } from './populate.ts'
import { presenter } from './present.ts'
import { type Project, parseProjection } from './projection.ts'
import { newestFirst, parseSort, uniqueFields, withTieBreak } from './sort.ts'
import { querySource, type Selection, type Source } from './source.ts'

/** Options of a list. */
export type Listed<T extends object> = Selection<T> & {
  /** Public fields: what parameters may name, and what is shown without `present`. */
  fields: FieldTable
  /** Default order, on stored fields. Default: newest first. */
  defaultSort?: SortOrder | undefined
  /** For lists whose records have positions: every page by age (also by `createdAt` alone) costs the same. */
  positions?: Positions | undefined
}

/** A list and its parameters; `R` is the record that `resolve` returns. */
export type ListOptions<T extends object, R extends object = T> = Listed<T> & {
  query: ListQuery
  /** Returns the public record of a stored one. */
  present?: ((record: R) => object) | undefined
  /** Replaces the found records by others, in the same order: members by their contacts, for example. */
  resolve?: ((records: T[]) => Promise<R[]>) | undefined
  populate?: PopulateMap | undefined
  /** The number of records without the client's filter, if it is known without counting. Positions know it. */
  total?: (() => Promise<number>) | undefined
  /** Caches what filters match, for lists with positions. */
  matches?: MatchMemory | undefined
  /** Finds what filters match without reading the records. Without `base`. */
  columns?: ListColumns | undefined
  /** Further conditions on stored fields, beside the client's. Unlike `base`, no index bounds them. */
  where?: Filter | undefined
}

/** The parsed and checked list parameters. */
export type ParsedList = {
  page: number
  limit: number
  paginated: boolean
  filter: Filter
  sort: SortOrder | undefined
  expand: Expand | undefined
  project: Project | undefined
}

type Doc = Record<string, unknown>

/** Parses the shared list parameters; throws `request.invalid_field` naming the invalid one. */
export function parseList(query: ListQuery, fields: FieldTable, populate?: PopulateMap): ParsedList {
  return {
    page: clampPage(query.page),
    limit: clampLimit(query.limit),
    paginated: query.pagination !== false,
    filter: parseFilter(query.filter, fields),
    sort: parseSort(query.sort, fields),
    expand: parsePopulate(query.populate, populate),
    project: parseProjection(query.projection, fields),
  }
}

/**
 * Returns a list: a page in its envelope, or with `pagination=false` all records as an array, streamed in constant memory. Throws `request.invalid_field` naming the parameter that is invalid or not allowed, `quota.too_many_pending` if the
 * organization already reads as much as it may, `service.unavailable` if the database takes too long.
 */
export async function runList<T extends object, R extends object = T>(
  options: ListOptions<T, R>,
): Promise<HttpBody | AsyncIterable<HttpBody>> {
  const parsed = parseList(options.query, options.fields, options.populate)
  const wanted = { ...parsed, filter: both(options.where, parsed.filter) }
  const show = showing(options, wanted)
  const { organization, model } = options.scope
  const limits = readLimitsOf(model.db)
  if (!wanted.paginated) {
    const source = sourceOf(options, wanted.filter, wanted.sort)
    return limits.stream(String(organization), streamArray(refusing(source.batches()), show))
  }
  const { page, limit } = wanted
  const scope = until(options.scope, Date.now() + READ_MS)
  const read = () =>
    runnable(sourceOf({ ...options, scope }, wanted.filter, wanted.sort).page((page - 1) * limit, limit))
  const isPlain = Object.keys(wanted.filter).length === 0 && wanted.sort === undefined
  const { docs, total } = await (isPlain ? read() : limits.filtered(String(organization), read))
  return json(envelope(await show(docs), total, page, limit))
}

/** Counts the records of a list that `where` selects, at the cost of its first page. */
export async function countRecords<T extends object>(
  options: Listed<T> & Pick<ListOptions<T>, 'total' | 'matches' | 'columns' | 'where'>,
): Promise<number> {
  const { organization, model } = options.scope
  const scope = until(options.scope, Date.now() + READ_MS)
  const { page } = sourceOf({ ...options, scope }, options.where ?? {}, undefined)
  const { total } = await readLimitsOf(model.db).filtered(String(organization), () => runnable(page(0, 1)))
  return total
}

function both(where: Filter = {}, filter: Filter): Filter {
  const parts = [where, filter].filter(part => Object.keys(part).length > 0)
  return parts.length > 1 ? { $and: parts } : (parts[0] ?? {})
}

/**
 * Streams every stored record that matches the client's `filter`, in the order of its `sort`, in batches and constant
 * memory. Throws `request.invalid_field` as `runList` does.
 */
export function listRecords<T extends object>(
  options: Listed<T> & { query: Pick<ListQuery, 'filter' | 'sort'> },
): AsyncIterable<T[]> {
  const filter = parseFilter(options.query.filter, options.fields)
  const sort = parseSort(options.query.sort, options.fields)
  const { organization, model } = options.scope
  const batches = refusing(sourceOf(options, filter, sort).batches())
  return readLimitsOf(model.db).stream(String(organization), batches)
}

function sourceOf<T extends object>(
  options: Listed<T> & Pick<ListOptions<T, object>, 'total' | 'matches' | 'columns'>,
  filter: Filter,
  sort: SortOrder | undefined,
): Source<T> {
  const { positions, defaultSort = newestFirst } = options
  const age = byAge(sort ?? defaultSort)
  if (positions && age) return positionedSource({ ...options, positions }, filter, age)
  const unique = options.stages ? [] : uniqueFields(options.scope.model.schema) // stages can multiply records
  return querySource(options, filter, withTieBreak(sort ?? defaultSort, unique), options.total)
}

/** Returns the order by age that is equal to an order, if any. Positions are in order of `createdAt`. */
function byAge(order: SortOrder): ByAge | undefined {
  if (order === newestFirst) return { position: -1 }
  return Object.keys(order).join() === 'createdAt' ? { position: order.createdAt! } : undefined
}

/** Returns a function that makes public records of stored ones. */
function showing<T extends object, R extends object>(options: ListOptions<T, R>, { expand, project }: ParsedList) {
  const { resolve, present = presenter(options.fields) } = options
  return async (stored: T[]): Promise<object[]> => {
    const found = resolve ? await resolve(stored) : (stored as object[] as R[]) // without `resolve`, R is T
    const records = found.map(present) as Doc[]
    const expanded = expand ? await expand(records) : records
    return project ? expanded.map(project) : expanded
  }
}

/** Records per message, so that a message can hold them however large they are. */
const PIECE = 256

async function* streamArray<T>(batches: AsyncIterable<T[]>, show: (batch: T[]) => Promise<object[]>) {
  let opening = '['
  for await (const batch of batches) {
    const records = await show(batch)
    for (let from = 0; from < records.length; from += PIECE) {
      yield json(Buffer.from(opening + JSON.stringify(records.slice(from, from + PIECE)).slice(1, -1)))
      opening = ','
    }
  }
  yield json(Buffer.from(opening === '[' ? '[]' : ']'))
}

/** Error codes of a server that cannot run a query: invalid values, patterns, limits of matching. */
const unusableQuery = new Set<unknown>([2, 9, 14, 51091, 51108, 51156])

/** Awaits a query with a client's filter; throws `request.invalid_field` if the server cannot run it. */
export function runnable<T>(answer: Promise<T>): Promise<T> {
  return answer.catch(refuse)
}

function refuse(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  throw unusableQuery.has(code) ? invalidParameter('filter', 'the database cannot run this filter') : error
}

async function* refusing<T>(batches: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* batches
  } catch (error) {
    refuse(error)
  }
}
