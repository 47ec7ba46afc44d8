import type { PipelineStage } from 'mongoose'
import { documentReader } from '../positions/bson-fields.ts'
import { startOfSpan } from '../positions/positions.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import type { Filter, Scope } from '../tenancy/scope.ts'
import { absentColumn, type Column, decodeColumn } from './column.ts'
import { hasColumn, topLevelOf } from './column-fields.ts'
import { compileFilter, type Expression, isAnswered, isSelective, leavesOf } from './condition.ts'
import { evaluateExpression, evaluateLeaves } from './evaluate.ts'
import {
  checkTime,
  committed,
  createUnknown,
  GROUPS_AT_ONCE,
  type Group,
  MAX_SINGLES,
  POSITIONS,
  positionsOf,
  readChunks,
  readGroups,
  readStale,
  type Unknown,
} from './groups.ts'
import { MAYBE, NO, YES } from './outcome.ts'
import type { PatternMatcher } from './pattern-matcher.ts'
import { type ColumnData, createEncoders } from './rewrite.ts'
import { GROUP_ROWS, groupOf, rowOf, startOf } from './row-group.model.ts'
import { createRowSet, type RowSet } from './row-set.ts'

/** Shorter lists are read sooner than their columns. */
const MIN_POSITIONS = 1000

/** A list with columns, and a filter on stored fields. */
export type ColumnSearch = Omit<ColumnData, 'records'> & {
  records: Pick<Scope<unknown>, 'stream' | 'findRaw'>
  /** Fields that are unique in the list. */
  unique: readonly string[]
  filter: Filter
  matcher: PatternMatcher
}

/**
 * Finds the positions of the records that match a filter; undefined if columns do not help.
 *
 * The result is that of a query which began when the search did: it has every change of before, maybe later ones. Notes of
 * stale rows are read first, then the groups with their versions, then columns of these versions: whatever is missing in
 * the notes is in the columns. Rows that the columns cannot decide are looked up in the records: stale ones, those of groups
 * that are missing or being rewritten, those of unreadable values.
 */
export async function searchColumns(search: ColumnSearch): Promise<RowSet | undefined> {
  const expression = compileFilter(search.filter, field => hasColumn(search.fields, field))
  if (!isAnswered(expression) || isSelective(expression, search.unique)) return undefined
  const { last } = await search.positions.read()
  if (last < MIN_POSITIONS) return undefined
  const deadline = Date.now() + READ_MS
  const stale = await readStale(search)
  const groups = await readGroups(search)
  const found = createRowSet()
  const unknown = createUnknown()
  const total = groupOf(last) + 1
  const groupsFrom = (from: number) =>
    Array.from({ length: Math.min(GROUPS_AT_ONCE, total - from) }, (_, index) => groups.get(from + index))
  const reading = (from: number) => {
    const read = from < total ? readColumns(search, expression, groupsFrom(from)) : Promise.resolve(noColumns)
    read.catch(() => undefined) // reported when it is awaited, unless an earlier step has failed
    return read
  }
  let next = reading(0)
  for (let from = 0; from < total; from += GROUPS_AT_ONCE) {
    checkTime(deadline)
    const some = groupsFrom(from)
    const columns = await next
    next = reading(from + GROUPS_AT_ONCE) // the database reads while these are evaluated
    const outcomes = await evaluateGroups(search, expression, some, columns)
    some.forEach((group, index) => {
      const rows = outcomes[index]
      const start = startOf(from + index)
      const end = Math.min(last, start + GROUP_ROWS)
      if (!group || !rows) unknown.addRange({ low: start + 1, high: end })
      else {
        settleRows(rows, group, stale.get(group.group) ?? [])
        addRows({ start, rows, found, unknown })
        if (start + rows.length < end) unknown.addRange({ low: start + rows.length + 1, high: end })
      }
    })
  }
  if (unknown.isAll(last)) return undefined
  await lookUp(search, await judgeSingles(search, expression, unknown, found), found)
  return found
}

/** Columns of groups, by name. */
type Columns = ReadonlyMap<string, ReadonlyMap<Group, Column>>
const noColumns: Columns = new Map()

/** Reads the columns that an expression names, of consecutive groups. */
async function readColumns(
  search: ColumnSearch,
  expression: Expression,
  groups: readonly (Group | undefined)[],
): Promise<Columns> {
  const known = groups.filter(group => group !== undefined)
  const columns = new Map<string, Map<Group, Column>>()
  for (const { column } of leavesOf(expression))
    if (!columns.has(column)) columns.set(column, await readChunks(search, column, known))
  return columns
}

/** Evaluates a filter for consecutive groups: outcomes by row, undefined for a group whose columns cannot be used. */
async function evaluateGroups(
  { matcher }: ColumnSearch,
  expression: Expression,
  groups: readonly (Group | undefined)[],
  columns: Columns,
): Promise<(Uint8Array | undefined)[]> {
  const leaves = leavesOf(expression)
  const evaluated = groups.map(async group => {
    const columnOf = (name: string) => group && columns.get(name)?.get(group)
    if (!group || !leaves.every(leaf => columnOf(leaf.column))) return undefined
    const outcomes = await evaluateLeaves(leaves, name => columnOf(name)!, group.rows, matcher)
    return evaluateExpression(expression, leaf => outcomes.get(leaf)!, group.rows)
  })
  return Promise.all(evaluated)
}

/** Overrules the columns: there is no record in a hole, and only the record decides a stale row. */
function settleRows(rows: Uint8Array, { holes }: Group, stale: readonly number[]): void {
  if (holes) for (let row = 0; row < rows.length; row++) if (holes[row >> 3]! & (1 << (row & 7))) rows[row] = NO
  for (const position of stale) if (rowOf(position) < rows.length) rows[rowOf(position)] = MAYBE
}

type Rows = { start: number; rows: Uint8Array; found: RowSet; unknown: Unknown }

/** Sorts the rows of a group into those that match and those to look up. */
function addRows({ start, rows, found, unknown }: Rows): void {
  const open: number[] = []
  for (let row = rows.indexOf(MAYBE); row >= 0; row = rows.indexOf(MAYBE, row + 1)) open.push(start + row + 1)
  if (open.length > MAX_SINGLES) unknown.addRange({ low: start + 1, high: start + rows.length })
  else {
    unknown.addSingles(open)
    found.addRows(start, rows, YES)
  }
}

/**
 * Judges single records as columns of them would, and returns what is still unknown. The database may take as long for a
 * pattern on some thousand records as columns do for a million.
 */
async function judgeSingles(
  { records, matcher }: ColumnSearch,
  expression: Expression,
  { ranges, singles }: Unknown,
  found: RowSet,
): Promise<Unknown> {
  const rest = createUnknown()
  for (const range of ranges) rest.addRange(range)
  const leaves = leavesOf(expression)
  const fields = [...new Set(leaves.map(({ column }) => column))]
  const decode = documentReader<{ position: number }>([...topLevelOf(fields), 'position'])
  for (let from = 0; from < singles.length; from += POSITIONS) {
    const positions: number[] = []
    const encoders = createEncoders(fields)
    const wanted = { position: { $in: singles.slice(from, from + POSITIONS) } }
    for await (const reply of records.findRaw(wanted, committed))
      for (const record of reply.map(decode)) encoders.set(positions.push(record.position) - 1, record)
    const columns = new Map<string, Column>()
    for (const [name, encoder] of encoders.byColumn) columns.set(name, decodeColumn(encoder.encode(positions.length)))
    const columnOf = (name: string) => columns.get(name) ?? absentColumn
    const outcomes = await evaluateLeaves(leaves, columnOf, positions.length, matcher)
    const rows = evaluateExpression(expression, leaf => outcomes.get(leaf)!, positions.length)
    const having = (outcome: number) => positions.filter((_, row) => rows[row] === outcome)
    found.add(having(YES))
    rest.addSingles(having(MAYBE))
  }
  return rest
}

/** Finds the matches among the positions that the columns cannot decide. */
async function lookUp({ records, filter }: ColumnSearch, unknown: Unknown, found: RowSet): Promise<void> {
  for (const position of positionsOf(unknown)) {
    const stages: PipelineStage[] = [
      { $match: { position } },
      { $match: filter },
      { $group: { _id: startOfSpan(GROUP_ROWS), positions: { $push: '$position' } } },
    ]
    for await (const { positions } of records.stream<{ positions: number[] }>(stages, committed)) found.add(positions)
  }
}
