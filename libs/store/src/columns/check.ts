import { type Column, decodeColumn, ID_BYTES, type StoredColumn, sizeOf } from './column.ts'
import { committed } from './groups.ts'
import { type ColumnData, encodeRowGroup } from './rewrite.ts'
import { type ColumnChunk, rowOf, startOf, type WithBytes } from './row-group.model.ts'

/**
 * Compares the columns of a row group with its records, apart from its stale rows. Safe while others write.
 * @returns the positions where they differ; undefined if the group was rewritten meanwhile
 */
export async function checkRowGroup(data: ColumnData, group: number): Promise<number[] | undefined> {
  const { rowGroups, columnChunks, staleRows } = data
  const stored = await rowGroups.findOne({ group })
  if (!stored) return []
  const columns = new Map<string, StoredColumn>()
  const chunks = [{ $match: { column: { $in: stored.columns }, group } }]
  for await (const chunk of columnChunks.stream<WithBytes<ColumnChunk>>(chunks, committed))
    columns.set(chunk.column, chunk)
  const fresh = await encodeRowGroup(data, group)
  const notes = await staleRows.find({ group }) // after the records: what changed meanwhile is in them
  const after = await rowGroups.findOne({ group })
  if (!after?.version.equals(stored.version)) return undefined
  const stale = new Set(notes.flatMap(({ positions }) => positions.map(rowOf)))
  const wrong = new Set<number>()
  const compare = (a: readonly string[], b: readonly string[]) => {
    for (let row = 0; row < stored.rows; row++) if (a[row] !== b[row] && !stale.has(row)) wrong.add(row)
  }
  compare(bitsOf(stored.holes?.value(), stored.rows), bitsOf(fresh.holes, stored.rows))
  for (const column of new Set([...columns.keys(), ...fresh.columns.keys()]))
    compare(textsOf(columns.get(column), stored.rows), textsOf(fresh.columns.get(column), stored.rows))
  return [...wrong].map(row => startOf(group) + row + 1)
}

function bitsOf(bits: Uint8Array = new Uint8Array(), rows: number): string[] {
  return Array.from({ length: rows }, (_, row) => String(((bits[row >> 3] ?? 0) >> (row & 7)) & 1))
}

/** The value of each row, as text. */
function textsOf(stored: StoredColumn = { specials: [0] }, rows: number): string[] {
  const column = decodeColumn(stored)
  const values = valuesOf(column)
  const isConstant = sizeOf(column) === 1
  return Array.from({ length: rows }, (_, row) => values[isConstant ? 0 : (column.codes?.[row] ?? row)]!)
}

function valuesOf(column: Column): string[] {
  const { specials, numbers, dates, ids, text, ends, arrays } = column
  const scalars = [
    ...specials.map(special => `special ${special}`),
    ...Array.from(numbers, number => `number ${number}`),
    ...Array.from(dates, date => `date ${date}`),
    ...Array.from({ length: ids.length / ID_BYTES }, (_, id) => `id ${ids.slice(id * ID_BYTES, (id + 1) * ID_BYTES)}`),
    ...Array.from(ends, (end, index) => `text ${text.slice(ends[index - 1] ?? 0, end)}`),
  ]
  return [...scalars, ...arrays.map(items => JSON.stringify(Array.from(items, code => scalars[code])))]
}
