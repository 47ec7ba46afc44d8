import type { PipelineStage } from 'mongoose'
import type { ListColumns } from '../columns/columns.ts'
import { createRowSet, type RowSet } from '../columns/row-set.ts'
import { uniqueFields } from '../query/sort.ts'
import { cut, matching, type Selection, type Source } from '../query/source.ts'
import { STREAM_BYTES } from '../tenancy/read-limits.ts'
import type { Filter } from '../tenancy/scope.ts'
import { documentReader } from './bson-fields.ts'
import type { Match, MatchMemory } from './matches.ts'
import { BLOCK, type Block, blocksOf, type Positions, rangeOf, spansOf, startOfSpan } from './positions.ts'

/** By age: newest first, or oldest first. */
export type ByAge = { position: 1 | -1 }

/** Of so many matches, the newest, the positions are kept: those of a million would take megabytes per filter. */
const NEWEST = 1000
/** Positions that are scanned at once, and that matches are counted by. */
const SPAN = 2 * BLOCK
/** Spans per batch of the counting cursor. */
const SPANS_AT_ONCE = 50

/** Positions from `low` to `high`. */
type Span = { low: number; high: number }

/** The halves of a span; the one to read first is last. */
function halvesOf({ low, high }: Span, isNewestFirst: boolean): Span[] {
  const middle = Math.floor((low + high) / 2)
  const [older, newer] = [
    { low, high: middle },
    { low: middle + 1, high },
  ]
  return isNewestFirst ? [older, newer] : [newer, older]
}

/** Where the records of a list with positions are read from. */
export type PositionedSelection<T extends object> = Selection<T> & {
  positions: Positions
  matches?: MatchMemory | undefined
  columns?: ListColumns | undefined
}

/** Records of a list with positions, by age. */
export function positionedSource<T extends object>(
  selection: PositionedSelection<T>,
  filter: Filter,
  order: ByAge,
): Source<T> {
  const { scope, base = {}, positions, matches: memory, columns, select } = selection
  const hasFilter = Object.keys(filter).length > 0
  const isNewestFirst = order.position === -1

  const between = (low: number, high: number) => ({ ...base, position: { $gte: low, $lte: high } })
  const filtered = (low: number, high: number): PipelineStage[] => [
    { $match: between(low, high) },
    ...(hasFilter ? [{ $match: filter }] : []), // a stage of its own: the range bounds how many records the filter is tried on
  ]
  const decode = documentReader<T & { position: number }>(select && [...Object.keys(select), 'position'])

  /** All records of a span, unordered: sorting here is cheaper than on the server. Undefined if they are too large. */
  const within = async ({ low, high }: Span): Promise<Uint8Array[] | undefined> => {
    const documents: Uint8Array[] = []
    let bytes = 0
    for await (const reply of hasFilter ? scope.aggregateRaw(filtered(low, high)) : scope.findRaw(between(low, high))) {
      for (const document of reply) bytes += document.byteLength
      if (bytes > STREAM_BYTES && low < high) return undefined
      documents.push(...reply)
    }
    return documents
  }

  /** Computes the range of a page from the blocks and reads it. */
  const pageOf = async (blocks: Iterable<Block>, total: number, skip: number, limit: number): Promise<T[]> => {
    const wanted = Math.min(limit, total - skip)
    const range = rangeOf(blocks, isNewestFirst ? skip : total - skip - wanted, wanted)
    if (!range) return []
    const newest = cut(selection, { position: -1 }, range.skip, wanted)
    const docs = await scope.aggregate<T>([...filtered(range.low, range.high), ...newest])
    return isNewestFirst ? docs : docs.reverse()
  }

  const plainPage = async (skip: number, limit: number) => {
    const recent = positions.recent()
    const guess = recent && pageOf(blocksOf(recent), recent.total, skip, limit)
    guess?.catch(() => undefined) // the guess may be unused
    const map = await positions.read()
    const isRight = recent?.changes === map.changes
    const docs = await (guess && isRight ? guess : pageOf(blocksOf(map), map.total, skip, limit))
    return { docs, total: map.total }
  }

  const unique = ['_id', ...uniqueFields(scope.model.schema)]

  const findMatches = async (): Promise<Match> => {
    const found = (await columns?.search({ records: scope, filter, unique })) ?? (await scan())
    return { total: found.size(), blocks: found.counts(SPAN), positions: found.highest(NEWEST) }
  }

  /** Finds the matches by trying the filter on every record. */
  const scan = async (): Promise<RowSet> => {
    const spans = scope.stream<{ positions: number[] }>(
      [...matching(selection, filter), { $group: { _id: startOfSpan(SPAN), positions: { $push: '$position' } } }],
      { batchSize: SPANS_AT_ONCE, readConcern: 'majority' }, // as `Positions.changes`, which the result is kept by
    )
    const found = createRowSet()
    for await (const { positions } of spans) found.add(positions)
    return found
  }

  const filteredPage = async (skip: number, limit: number) => {
    const changes = await positions.changes()
    const key = JSON.stringify([scope.model.collection.name, scope.organization, base, filter])
    const matches = await (memory ? memory.recall(key, changes, findMatches) : findMatches())
    const { total, blocks, positions: newest } = matches
    const end = Math.min(skip + limit, total)
    const [from, to] = isNewestFirst ? [skip, end] : [total - end, total - skip]
    if (to > newest.length) return { docs: await pageOf(blocks, total, skip, limit), total }
    const position = { $in: newest.slice(Math.max(0, from), Math.max(0, to)) }
    return { docs: await scope.aggregate<T>([{ $match: { position } }, ...cut(selection, order)]), total }
  }

  return {
    page: hasFilter ? filteredPage : plainPage,
    async *batches() {
      const spans = [...spansOf(await positions.read(), SPAN)] // the next one is last
      if (isNewestFirst) spans.reverse()
      let size = SPAN
      const read = () => {
        const span = spans.pop()
        if (!span) return undefined
        if (span.high - span.low >= size) {
          spans.push(...halvesOf(span, isNewestFirst))
          return read()
        }
        const documents = within(span)
        documents.catch(() => undefined) // awaited below, unless the reader stopped
        return { span, documents }
      }
      for (let next = read(); next; ) {
        const { span, documents }: NonNullable<typeof next> = next
        const found = await documents
        if (!found) {
          size = Math.ceil((span.high - span.low + 1) / 2)
          spans.push(span)
        }
        next = read() // read ahead while these are written
        if (found) yield found.map(decode).sort((a, b) => (a.position - b.position) * order.position)
      }
    },
  }
}
