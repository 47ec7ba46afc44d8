import type { PipelineStage } from 'mongoose'
import { cut, matching, type Selection, type Source } from '../query/source.ts'
import { STREAM_BYTES } from '../tenancy/read-limits.ts'
import type { Filter } from '../tenancy/scope.ts'
import { documentReader } from './bson-fields.ts'
import type { Match, MatchMemory } from './matches.ts'
import { BLOCK, type Block, blocksOf, type Positions, rangeOf, spansOf, startOfSpan } from './positions.ts'

/** By age: newest first, or oldest first. */
export type ByAge = { position: 1 | -1 }

/** Up to so many matches it is cheaper to know where each one is than to look for it. */
const FEW = 1000
/** Positions that matches are counted by, and that are looked through at once. */
const SPAN = 2 * BLOCK
/** Spans whose matches are held at once while all are counted. */
const SPANS_AT_ONCE = 50

/** Positions from `low` to `high`. */
type Span = { low: number; high: number }

/** The halves of a span, the one to be read first at the end. */
function halvesOf({ low, high }: Span, isNewestFirst: boolean): Span[] {
  const middle = Math.floor((low + high) / 2)
  const [older, newer] = [
    { low, high: middle },
    { low: middle + 1, high },
  ]
  return isNewestFirst ? [older, newer] : [newer, older]
}

/** What a list with positions is drawn from. */
export type PositionedSelection<T extends object> = Selection<T> & {
  positions: Positions
  matches?: MatchMemory | undefined
}

/** Records of a list with positions, by age. */
export function positionedSource<T extends object>(
  selection: PositionedSelection<T>,
  filter: Filter,
  order: ByAge,
): Source<T> {
  const { scope, base = {}, positions, matches: memory, select } = selection
  const hasFilter = Object.keys(filter).length > 0
  const isNewestFirst = order.position === -1

  const between = (low: number, high: number) => ({ ...base, position: { $gte: low, $lte: high } })
  const filtered = (low: number, high: number): PipelineStage[] => [
    { $match: between(low, high) },
    ...(hasFilter ? [{ $match: filter }] : []), // apart: the range bounds what the filter is tried on
  ]
  const decode = documentReader<T & { position: number }>(select && [...Object.keys(select), 'position'])

  /** All records of a span, in any order: to sort them is cheaper here than there. Undefined where they are too large. */
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

  /** By arithmetic: the blocks say where the page is. */
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
    guess?.catch(() => undefined) // it may not be wanted
    const map = await positions.read()
    const isRight = recent?.changes === map.changes
    const docs = await (guess && isRight ? guess : pageOf(blocksOf(map), map.total, skip, limit))
    return { docs, total: map.total }
  }

  const look = async (): Promise<Match> => {
    const spans = scope.stream<{ _id: number; found: number[] }>(
      [...matching(selection, filter), { $group: { _id: startOfSpan(SPAN), found: { $push: '$position' } } }],
      { batchSize: SPANS_AT_ONCE },
    )
    const blocks: Block[] = []
    let total = 0
    let places: number[] | undefined = []
    for await (const { _id, found } of spans) {
      blocks.push({ low: _id + 1, high: _id + SPAN, count: found.length })
      total += found.length
      // Of many no more than how many: where a million are is megabytes, for each filter that somebody looks at.
      places = total > FEW ? undefined : places?.concat(found)
    }
    blocks.sort((a, b) => b.low - a.low)
    places?.sort((a, b) => b - a)
    return { total, blocks, ...(places && { places }) }
  }

  const filteredPage = async (skip: number, limit: number) => {
    const changes = await positions.changes()
    const key = JSON.stringify([scope.model.collection.name, scope.organization, base, filter])
    const { total, blocks, places } = await (memory ? memory.recall(key, changes, look) : look())
    if (!places) return { docs: await pageOf(blocks, total, skip, limit), total }
    const position = { $in: (isNewestFirst ? places : places.toReversed()).slice(skip, skip + limit) }
    return { docs: await scope.aggregate<T>([{ $match: { position } }, ...cut(selection, order)]), total }
  }

  return {
    page: hasFilter ? filteredPage : plainPage,
    async *batches() {
      const spans = [...spansOf(await positions.read(), SPAN)] // the next one last
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
        documents.catch(() => undefined) // it is awaited, or nobody wants it any more
        return { span, documents }
      }
      for (let next = read(); next; ) {
        const { span, documents }: NonNullable<typeof next> = next
        const found = await documents
        if (!found) {
          size = Math.ceil((span.high - span.low + 1) / 2)
          spans.push(span)
        }
        next = read() // while these are written out
        if (found) yield found.map(decode).sort((a, b) => (a.position - b.position) * order.position)
      }
    },
  }
}
