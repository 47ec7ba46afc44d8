import { AppError } from '@rollcall/contract'
import type { Positions } from '../positions/positions.ts'
import { absentColumn, type Column, decodeColumn } from './column.ts'
import type { ColumnScopes } from './columns.ts'
import { type ColumnChunk, GROUP_ROWS, type RowGroup, type WithBytes } from './row-group.model.ts'

/** Row groups of which a column is read at once: a few megabytes at most. */
export const GROUPS_AT_ONCE = 32
/** A group with more rows that only records decide is read as a range. */
export const MAX_SINGLES = GROUP_ROWS / 8
/** Positions of one query. */
export const POSITIONS = 1000

/** A row group as it is read. */
export type Group = WithBytes<Pick<RowGroup, 'group' | 'version' | 'rows' | 'holes' | 'columns'>>
/** A range of positions. */
type Range = { low: number; high: number }

/** Throws `service.unavailable` after a deadline, in milliseconds since the epoch. */
export function checkTime(deadline: number): void {
  if (Date.now() > deadline) throw new AppError('service.unavailable', {}, { cause: new Error('out of time') })
}

/** Reads stale positions by group. Before the groups: what is missing here is in columns that are read later. */
export async function readStale({ staleRows }: Pick<ColumnScopes, 'staleRows'>): Promise<Map<number, number[]>> {
  const stale = new Map<number, number[]>()
  const notes = staleRows.stream<{ group: number; positions: number[] }>(
    [{ $match: {} }, { $project: { _id: 0, group: 1, positions: 1 } }],
    committed,
  )
  for await (const { group, positions } of notes) {
    const known = stale.get(group)
    if (known) for (const position of positions) known.push(position)
    else stale.set(group, positions)
  }
  return stale
}

/** Reads the groups in which every change is noted. */
export async function readGroups({
  rowGroups,
  positions,
}: Pick<ColumnScopes, 'rowGroups'> & { positions: Positions }): Promise<Map<number, Group>> {
  const groups = new Map<number, Group>()
  const unnoted = await positions.unnoted()
  const stages = [{ $match: { unnoted } }, { $project: { _id: 0, organization: 0, unnoted: 0 } }]
  for await (const group of rowGroups.stream<Group>(stages, committed)) groups.set(group.group, group)
  return groups
}

/** Options of reads that must not see what may be rolled back. */
export const committed = { readConcern: 'majority', batchSize: 1000, promoteBuffers: true } as const

/** Reads a column of groups. A group that is missing in the answer was rewritten meanwhile. */
export async function readChunks(
  { columnChunks }: Pick<ColumnScopes, 'columnChunks'>,
  column: string,
  groups: readonly Group[],
): Promise<Map<Group, Column>> {
  const read = new Map<Group, Column>()
  const having = groups.filter(({ columns }) => columns.includes(column))
  for (const group of groups) if (!having.includes(group)) read.set(group, absentColumn)
  if (having.length === 0) return read
  const byNumber = new Map(having.map(group => [group.group, group]))
  const range = { $gte: having[0]!.group, $lte: having.at(-1)!.group }
  const chunks = columnChunks.stream<WithBytes<ColumnChunk>>([{ $match: { column, group: range } }], committed)
  for await (const chunk of chunks) {
    const group = byNumber.get(chunk.group)
    if (group?.version.equals(chunk.version)) read.set(group, decodeColumn(chunk))
  }
  return read
}

/** Positions that the columns cannot decide. */
export type Unknown = ReturnType<typeof createUnknown>

/** Collects the positions that the columns cannot decide. */
export function createUnknown() {
  const ranges: Range[] = []
  const singles: number[] = []
  return {
    ranges,
    singles,
    addRange(range: Range): void {
      const last = ranges.at(-1)
      if (last && last.high + 1 === range.low) last.high = range.high
      else ranges.push({ ...range })
    },
    addSingles(positions: readonly number[]): void {
      for (const position of positions) singles.push(position)
    },
    /** Whether they are all of the list. */
    isAll: (last: number) => ranges[0]?.low === 1 && ranges[0].high === last,
  }
}

/** Yields conditions on `position`, one for each query of unknown positions. A range is cut into pieces of `atOnce`. */
export function* positionsOf({ ranges, singles }: Unknown, atOnce = Number.POSITIVE_INFINITY): Generator<object> {
  for (const { low, high } of ranges)
    for (let from = low; from <= high; from += atOnce) yield { $gte: from, $lte: Math.min(high, from + atOnce - 1) }
  for (let from = 0; from < singles.length; from += POSITIONS) yield { $in: singles.slice(from, from + POSITIONS) }
}
