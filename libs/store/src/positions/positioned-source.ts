import { mongo, type PipelineStage } from 'mongoose'
import type { ListColumns } from '../columns/columns.ts'
import { createRowSet, type RowSet } from '../columns/row-set.ts'
import { fieldFinder } from '../query/field-finder.ts'
import { uniqueFields } from '../query/sort.ts'
import { backwards, cut, matching, readPage, type Selection, type Source } from '../query/source.ts'
import { documentAt, joined, type RawRecords } from '../tenancy/raw-records.ts'
import type { Filter } from '../tenancy/scope.ts'
import { numberAt } from './bson-fields.ts'
import type { Match, MatchMemory } from './matches.ts'
import { BLOCK, type Block, blocksOf, type Positions, rangeOf, type Span, spansOf, startOfSpan } from './positions.ts'

const { BSON } = mongo

/** By age: newest first, or oldest first. */
export type ByAge = { position: 1 | -1 }

/** Of so many matches, the newest, the positions are kept: those of a million would take megabytes per filter. */
const NEWEST = 1000
/** Positions that matches are counted by. */
const COUNTED_SPAN = 2 * BLOCK
/** Spans per batch of the counting cursor. */
const SPANS_AT_ONCE = 50

/** Positions that a stream reads at once: few at first, so that it begins soon; more cost less each. */
const FIRST_SPAN = 256
const LARGEST_SPAN = 8 * BLOCK
const GROWTH = 8
/** Bytes that a reply should have, by the size of the records so far. */
const REPLY_BYTES = 4 * 2 ** 20

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
): Source {
  const { scope, base = {}, positions, matches: memory, columns } = selection
  const hasFilter = Object.keys(filter).length > 0
  const isNewestFirst = order.position === -1

  const between = (low: number, high: number) => ({ ...base, position: { $gte: low, $lte: high } })
  const filtered = (low: number, high: number): PipelineStage[] => [
    { $match: between(low, high) },
    ...(hasFilter ? [{ $match: filter }] : []), // a stage of its own: the range bounds how many records the filter is tried on
  ]
  /** All records of a span; undefined if one reply cannot hold them. Sorting here is cheaper than on the server. */
  const within = async ({ low, high }: Span): Promise<RawRecords | undefined> => {
    const found = await (hasFilter ? scope.aggregateReply(filtered(low, high)) : scope.findReply(between(low, high)))
    return found && inOrder(found, high - low + 1, position => (isNewestFirst ? high - position : position - low))
  }

  /** Computes the range of a page from the blocks and reads it. */
  const pageOf = async (blocks: Iterable<Block>, total: number, skip: number, limit: number): Promise<RawRecords> => {
    const wanted = Math.min(limit, total - skip)
    const range = rangeOf(blocks, isNewestFirst ? skip : total - skip - wanted, wanted)
    if (!range) return joined([])
    const newest = cut(selection, { position: -1 }, range.skip, wanted)
    const records = await readPage(scope, [...filtered(range.low, range.high), ...newest])
    return isNewestFirst ? records : backwards(records)
  }

  const plainPage = async (skip: number, limit: number) => {
    const recent = positions.recent()
    const guess = recent && pageOf(blocksOf(recent), recent.total, skip, limit)
    guess?.catch(() => undefined) // the guess may be unused
    const map = await positions.read()
    const isRight = recent?.changes === map.changes
    const records = await (guess && isRight ? guess : pageOf(blocksOf(map), map.total, skip, limit))
    return { records, total: map.total }
  }

  const unique = ['_id', ...uniqueFields(scope.model.schema)]

  const findMatches = async (): Promise<Match> => {
    const found = (await columns?.search({ records: scope, filter, unique })) ?? (await scan())
    const blocks = found.counts(COUNTED_SPAN)
    const total = blocks.reduce((sum, { count }) => sum + count, 0)
    return { total, blocks, positions: found.highest(NEWEST) }
  }

  /** Finds the matches by trying the filter on every record. */
  const scan = async (): Promise<RowSet> => {
    const spans = scope.stream<{ positions: number[] }>(
      [
        ...matching(selection, filter),
        { $group: { _id: startOfSpan(COUNTED_SPAN), positions: { $push: '$position' } } },
      ],
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
    if (to > newest.length) return { records: await pageOf(blocks, total, skip, limit), total }
    const position = { $in: newest.slice(Math.max(0, from), Math.max(0, to)) }
    return { records: await readPage(scope, [{ $match: { position } }, ...cut(selection, order)]), total }
  }

  return {
    page: hasFilter ? filteredPage : plainPage,
    async *batches() {
      const spans = spansOf(await positions.read(), isNewestFirst)
      let size = FIRST_SPAN
      const read = () => {
        const span = spans.next(size)
        if (!span) return undefined
        const records = within(span)
        records.catch(() => undefined) // awaited below, unless the reader stopped
        return { span, records }
      }
      for (let next = read(); next; ) {
        const { span, records }: NonNullable<typeof next> = next
        const found = await records
        if (found) size = Math.min(size * GROWTH, LARGEST_SPAN, positionsIn(REPLY_BYTES, found, span))
        else {
          size = Math.ceil(sizeOf(span) / 2)
          spans.giveBack(span)
        }
        next = read() // read ahead while these are written
        if (found) yield found
      }
    },
  }
}

const sizeOf = ({ low, high }: Span) => high - low + 1

/** How many positions have so many bytes, by the records of a span; at least one. */
function positionsIn(bytes: number, found: RawRecords, span: Span): number {
  return Math.max(1, Math.floor((bytes * sizeOf(span)) / found.bytes.length))
}

/** Puts records into the order of their ranks, which differ and are below `size`. */
function inOrder({ bytes, starts }: RawRecords, size: number, rankOf: (position: number) => number): RawRecords {
  const ranked = new Int32Array(size).fill(-1)
  for (const start of starts) ranked[rankOf(positionAt(bytes, start))] = start
  return { bytes, starts: [...ranked.filter(start => start >= 0)] }
}

const { find, types, starts: values } = fieldFinder(['position'])

function positionAt(bytes: Buffer, start: number): number {
  const position = find(bytes, start) ? numberAt(bytes, types[0]!, values[0]!) : undefined
  return position ?? BSON.deserialize(documentAt(bytes, start)).position
}
