import { clampLimit, clampPage, type HttpBody, json, type ListQuery } from '@rollcall/contract'
import type { ListColumns } from '../columns/columns.ts'
import { documentReader } from '../positions/bson-fields.ts'
import type { MatchMemory } from '../positions/matches.ts'
import { type ByAge, positionedSource } from '../positions/positioned-source.ts'
import type { Positions } from '../positions/positions.ts'
import { documentAt, type RawRecords } from '../tenancy/raw-records.ts'
import { READ_MS, readLimitsOf, STREAM_BYTES, until } from '../tenancy/read-limits.ts'
import type { Filter, SortOrder } from '../tenancy/scope.ts'
import { envelope } from './envelope.ts'
import { type FieldTable, invalidParameter } from './fields.ts'
import { parseFilter } from './filter.ts'
import { type Expand, type PopulateMap, parsePopulate } from './populate.ts'
import { presenter } from './present.ts'
import { type Project, parseProjection } from './projection.ts'
import { type RecordWriter, recordChunks } from './record-chunks.ts'
import { isReversible, newestFirst, parseSort, uniqueFields, withTieBreak } from './sort.ts'
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
  const write = writing(options, wanted)
  const { organization, model } = options.scope
  const limits = readLimitsOf(model.db)
  if (!wanted.paginated) {
    const source = sourceOf(options, wanted.filter, wanted.sort)
    return limits.stream(String(organization), streamArray(refusing(source.batches()), write))
  }
  const { page, limit } = wanted
  const scope = until(options.scope, Date.now() + READ_MS)
  const read = () =>
    runnable(sourceOf({ ...options, scope }, wanted.filter, wanted.sort).page((page - 1) * limit, limit))
  const isPlain = Object.keys(wanted.filter).length === 0 && wanted.sort === undefined
  const { records, total } = await (isPlain ? read() : limits.filtered(String(organization), read))
  return json(await pageJson(write(records), total, page, limit))
}

/** Returns a page in its envelope as JSON. */
async function pageJson(chunks: Chunks, total: number, page: number, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from('{"docs":')]
  for await (const chunk of chunks) parts.push(chunk)
  if (parts.length > 1) parts[1]![0] = OPEN_LIST
  else parts.push(Buffer.from('['))
  const empty = '{"docs":['
  parts.push(Buffer.from(JSON.stringify(envelope([], total, page, limit)).slice(empty.length)))
  return Buffer.concat(parts)
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
export function listRecords<T extends object>(options: Streamed<T>): AsyncIterable<T[]> {
  const { select } = options
  return decoded(listRawRecords(options), documentReader<T>(select && Object.keys(select)))
}

async function* decoded<T>(batches: AsyncIterable<RawRecords>, decode: (document: Buffer) => T): AsyncIterable<T[]> {
  for await (const records of batches) for (const part of partsOf(records)) yield part.map(decode)
}

type Streamed<T extends object> = Listed<T> & { query: Pick<ListQuery, 'filter' | 'sort'> }

/** Streams the same records in BSON. */
export function listRawRecords<T extends object>(options: Streamed<T>): AsyncIterable<RawRecords> {
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
): Source {
  const { positions, defaultSort = newestFirst } = options
  const age = byAge(sort ?? defaultSort)
  if (positions && age) return positionedSource({ ...options, positions }, filter, age)
  const unique = options.stages ? [] : uniqueFields(options.scope.model.schema) // stages can multiply records
  const order = withTieBreak(sort ?? defaultSort, unique)
  return querySource(options, filter, order, {
    total: options.total,
    isReversible: isReversible(order, options.fields),
  })
}

/** Returns the order by age that is equal to an order, if any. Positions are in order of `createdAt`. */
function byAge(order: SortOrder): ByAge | undefined {
  if (order === newestFirst) return { position: -1 }
  return Object.keys(order).join() === 'createdAt' ? { position: order.createdAt! } : undefined
}

/** Records as JSON, each after a comma. */
type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>

const OPEN_LIST = 0x5b

/** Returns a function that makes JSON of stored records: from BSON where records are shown as they are stored, else by way of objects. */
function writing<T extends object, R extends object>(
  options: ListOptions<T, R>,
  { expand, project }: ParsedList,
): (records: RawRecords) => Chunks {
  const { resolve, present = presenter(options.fields) } = options
  if ('writer' in present && !resolve && !expand && !project) {
    const writer = present.writer as RecordWriter
    return records => recordChunks(records, writer)
  }
  const decode = documentReader<T>()
  const show = async (stored: T[]): Promise<object[]> => {
    const found = resolve ? await resolve(stored) : (stored as object[] as R[]) // without `resolve`, R is T
    const records = found.map(present) as Doc[]
    const expanded = expand ? await expand(records) : records
    return project ? expanded.map(project) : expanded
  }
  return async function* (records) {
    for (const part of partsOf(records)) {
      const shown = await show(part.map(decode))
      for (let from = 0; from < shown.length; from += PIECE)
        yield Buffer.from(`,${JSON.stringify(shown.slice(from, from + PIECE)).slice(1, -1)}`)
    }
  }
}

/** Records per message, so that a message can hold them however large they are. */
const PIECE = 256

/** Yields documents in parts of no more bytes than a stream may decode at once, or of one. */
function* partsOf({ bytes, starts }: RawRecords): Generator<Buffer[]> {
  let part: Buffer[] = []
  let length = 0
  for (const start of starts) {
    const document = documentAt(bytes, start)
    if (part.length > 0 && length + document.length > STREAM_BYTES) {
      yield part
      part = []
      length = 0
    }
    part.push(document)
    length += document.length
  }
  if (part.length > 0) yield part
}

async function* streamArray(batches: AsyncIterable<RawRecords>, write: (records: RawRecords) => Chunks) {
  let isEmpty = true
  for await (const records of batches) {
    for await (const chunk of write(records)) {
      if (isEmpty) chunk[0] = OPEN_LIST
      isEmpty = false
      yield json(chunk)
    }
  }
  yield json(Buffer.from(isEmpty ? '[]' : ']'))
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
