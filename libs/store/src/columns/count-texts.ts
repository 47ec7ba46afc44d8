import { AppError } from '@rollcall/contract'
import type { PipelineStage } from 'mongoose'
import type { Positions } from '../positions/positions.ts'
import { READ_MS } from '../tenancy/read-limits.ts'
import type { Scope } from '../tenancy/scope.ts'
import { type Column, SPECIALS, scalarsOf, sizeOf } from './column.ts'
import type { ColumnScopes } from './columns.ts'
import {
  checkTime,
  committed,
  createUnknown,
  GROUPS_AT_ONCE,
  type Group,
  MAX_SINGLES,
  positionsOf,
  readChunks,
  readGroups,
  readStale,
} from './groups.ts'
import { GROUP_ROWS, groupOf, rowOf, startOf } from './row-group.model.ts'

/** Positions whose records one query counts: a few megabytes of records. */
const RECORDS_AT_ONCE = 16 * GROUP_ROWS
/** Different texts that a count keeps in memory. */
const MAX_TEXTS = 500_000

/** A list with columns, and a field of texts or of arrays of texts. */
export type TextCount = ColumnScopes & {
  positions: Positions
  records: Pick<Scope<unknown>, 'stream' | 'organization'>
  field: string
}

/**
 * Counts the records that have each text of a field. Exact as `searchColumns` is, by the same reads in the same order; what
 * the columns cannot decide is counted in the records, in pieces. Throws `service.unavailable` if it takes too long, or if there
 * are more than half a million texts.
 */
export async function countTexts(counted: TextCount): Promise<Map<string, number>> {
  const { last } = await counted.positions.read()
  const deadline = Date.now() + READ_MS
  const stale = await readStale(counted)
  const groups = await readGroups(counted)
  const totals = createTotals()
  const unknown = createUnknown()
  const total = groupOf(last) + 1
  for (let from = 0; from < total; from += GROUPS_AT_ONCE) {
    checkTime(deadline)
    const numbers = Array.from({ length: Math.min(GROUPS_AT_ONCE, total - from) }, (_, index) => from + index)
    const known = numbers.map(number => groups.get(number)).filter(group => group !== undefined)
    const columns = await readChunks(counted, counted.field, known)
    for (const number of numbers) {
      const range = { low: startOf(number) + 1, high: Math.min(last, startOf(number + 1)) }
      const group = groups.get(number)
      const column = group && columns.get(group)
      if (!column) unknown.addRange(range)
      else {
        const { counts, open } = countRows(column, group, stale.get(number) ?? [])
        if (open.length > MAX_SINGLES) unknown.addRange(range)
        else {
          totals.addColumn(column, counts)
          unknown.addSingles(open.map(row => range.low + row))
          if (range.low + group.rows <= range.high) unknown.addRange({ low: range.low + group.rows, high: range.high })
        }
      }
    }
  }
  for (const position of positionsOf(unknown, RECORDS_AT_ONCE)) {
    checkTime(deadline)
    for await (const { text, count } of countRecords(counted, position)) totals.add(text, count)
  }
  return totals.texts
}

/** Counts the rows of a group by code. `open` are the rows that only records decide. */
function countRows(column: Column, { rows, holes }: Group, stale: readonly number[]) {
  const counts = new Uint32Array(sizeOf(column))
  const open: number[] = []
  const isStale = new Set(stale.map(rowOf))
  const unreadable = column.specials.indexOf(SPECIALS.unreadable)
  for (let row = 0; row < rows; row++) {
    const code = column.codes ? column.codes[row]! : counts.length === 1 ? 0 : row
    if (isStale.has(row)) open.push(row)
    else if (holes && holes[row >> 3]! & (1 << (row & 7))) continue
    else if (code === unreadable) open.push(row)
    else counts[code]!++
  }
  return { counts, open }
}

/** Adds up the counts of texts. */
function createTotals() {
  const texts = new Map<string, number>()
  const add = (text: string, count: number) => {
    texts.set(text, (texts.get(text) ?? 0) + count)
    if (texts.size > MAX_TEXTS)
      throw new AppError('service.unavailable', {}, { cause: new Error(`more than ${MAX_TEXTS} texts`) })
  }
  return {
    texts,
    add,
    /** Adds the counts of a column's codes: those of an array count for each of its items. */
    addColumn(column: Column, counts: Uint32Array): void {
      const { text, ends, arrays } = column
      const end = scalarsOf(column)
      const first = end - ends.length
      arrays.forEach((items, index) => {
        for (const code of items) counts[code]! += counts[end + index]!
      })
      ends.forEach((textEnd, index) => {
        const count = counts[first + index]!
        if (count > 0) add(Buffer.from(text.slice(ends[index - 1] ?? 0, textEnd), 'latin1').toString(), count)
      })
    },
  }
}

function countRecords({ records, field }: TextCount, position: object) {
  const stages: PipelineStage[] = [
    { $match: { position } },
    { $project: { _id: 0, [field]: 1 } },
    { $unwind: `$${field}` },
    { $match: { [field]: { $type: 'string' } } },
    { $group: { _id: `$${field}`, count: { $sum: 1 } } },
    { $project: { _id: 0, text: '$_id', count: 1 } },
  ]
  return records.stream<{ text: string; count: number }>(stages, committed)
}
