import type { PipelineStage } from 'mongoose'
import type { Match, MatchMemory } from './matches.ts'
import { BLOCK, type PositionMap, type Positions, rangeOf, spansOf } from './positions.ts'
import type { Filter } from './scope.ts'
import { countOf, cut, fromNearerEnd, matching, type Selection, type Source } from './source.ts'

/** By age: newest first, or oldest first. */
export type ByAge = { position: 1 | -1 }

/** Up to so many matches it is cheaper to know where they are than to look for them. */
const FEW = 500
/** Positions looked through at once while every match is wanted. */
const FILTER_SPAN = 4 * BLOCK

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
  const { scope, base = {}, positions, matches: memory } = selection
  const hasFilter = Object.keys(filter).length > 0
  const found = matching(selection, filter)

  const within = (low: number, high: number, rest: PipelineStage[]) =>
    scope.aggregate<T>([
      { $match: { ...base, position: { $gte: low, $lte: high } } },
      ...(hasFilter ? [{ $match: filter }] : []), // apart: the range bounds what the filter is tried on
      ...rest,
    ])

  const look = async (): Promise<Match> => {
    const total = await countOf(scope, found)
    if (!memory || total === 0 || total > FEW) return { total }
    const places = await scope.aggregate<{ position: number }>([
      ...found,
      ...cut({ select: { position: 1 } }, { position: -1 }),
    ])
    return { total, positions: places.map(({ position }) => position) }
  }

  /** By arithmetic: the positions of the page are known. */
  const plainPage = async (map: PositionMap, skip: number, limit: number): Promise<T[]> => {
    const wanted = Math.min(limit, map.total - skip)
    const isNewestFirst = order.position === -1
    const range = rangeOf(map, isNewestFirst ? skip : map.total - skip - wanted, wanted)
    if (!range) return []
    const docs = await within(range.low, range.high, cut(selection, { position: -1 }, range.skip, range.limit))
    return isNewestFirst ? docs : docs.reverse()
  }

  /** Looks through as many positions from an end as should hold the page, through more where they do not. */
  const readFrom =
    ({ last }: PositionMap, total: number) =>
    async (from: ByAge, skip: number, limit: number) => {
      const stages = cut(selection, from, skip, limit)
      for (let width = BLOCK + Math.ceil(((skip + limit) / total) * last * 1.5); ; width *= 4) {
        const [low, high] = from.position === -1 ? [last - width + 1, last] : [1, width]
        const docs = await within(low, high, stages)
        if (docs.length === limit || width >= last) return docs
      }
    }

  const filteredPage = async (map: PositionMap, skip: number, limit: number, { total, positions: places }: Match) => {
    if (places) {
      const inOrder = order.position === -1 ? places : places.toReversed()
      const position = { $in: inOrder.slice(skip, skip + limit) }
      return scope.aggregate<T>([{ $match: { position } }, ...cut(selection, order)])
    }
    if (total <= FEW) return scope.aggregate<T>([...found, ...cut(selection, order, skip, limit)])
    return fromNearerEnd(readFrom(map, total), order, skip, limit, total)
  }

  return {
    async page(skip, limit) {
      const map = await positions.read()
      if (!hasFilter) return { docs: await plainPage(map, skip, limit), total: map.total }
      const key = JSON.stringify([scope.model.collection.name, scope.organization, base, filter])
      const match = await (memory ? memory.recall(key, map.changes, look) : look())
      return { docs: await filteredPage(map, skip, limit, match), total: match.total }
    },
    async *batches() {
      const spans = [...spansOf(await positions.read(), hasFilter ? FILTER_SPAN : BLOCK)]
      if (order.position === 1) spans.reverse()
      const read = (index: number) => {
        const span = spans[index]
        const docs = span && within(span.low, span.high, cut(selection, order))
        docs?.catch(() => undefined) // it is awaited, or nobody wants it any more
        return docs
      }
      let next = read(0)
      for (let index = 1; next; index++) {
        const docs: T[] = await next
        next = read(index) // while these are written out
        yield docs
      }
    },
  }
}
