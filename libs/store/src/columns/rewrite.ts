import { Types } from 'mongoose'
import { documentReader } from '../positions/bson-fields.ts'
import type { Positions } from '../positions/positions.ts'
import type { Store } from '../tenancy/connection.ts'
import { isDuplicate } from '../tenancy/errors.ts'
import { insertOf, type Scope } from '../tenancy/scope.ts'
import { type ColumnEncoder, createColumnEncoder, type StoredColumn } from './column.ts'
import { type ColumnFields, topLevelOf, valuesOf } from './column-fields.ts'
import { type ColumnChunk, GROUP_ROWS, type RowGroup, rowOf, type StaleRows, startOf } from './row-group.model.ts'

/** The stored columns of a list, and the records that they are made of. */
export type ColumnData = {
  store: Store
  rowGroups: Scope<RowGroup>
  columnChunks: Scope<ColumnChunk>
  staleRows: Scope<StaleRows>
  records: Pick<Scope<unknown>, 'findRaw'>
  positions: Positions
  fields: ColumnFields
}

/** The columns of a row group, as they follow from its records. */
export type Encoded = { rows: number; holes: Uint8Array | undefined; columns: Map<string, StoredColumn> }

/** Only what no failover rolls back: columns outlive it. */
const COMMITTED = { readConcern: 'majority' } as const
/** Records decoded at once. */
const BATCH = 256
/** Notes deleted by one command. */
const NOTES = 1000

/** Another rewrite of the same group was faster. */
class Superseded extends Error {}

/**
 * Writes the columns of a row group anew and deletes the notes of its stale rows.
 *
 * The order makes it exact while others write: (1) the notes, and the number of changes
 * without notes, (2) the records, (3) in one transaction the columns, and the
 * deletion of the notes of step 1. A change of before step 1 is in the records; the note of a later one stays. If another
 * rewrite has replaced the version that was read first, nothing is written.
 * @returns false if another rewrite was faster
 */
export async function rewriteRowGroup(data: ColumnData, group: number): Promise<boolean> {
  const { store, rowGroups, columnChunks, staleRows, positions } = data
  const before = await rowGroups.findOne({ group }, COMMITTED)
  const unnoted = await positions.unnoted()
  const notes = await staleRows.find({ group }, { ...COMMITTED, projection: { _id: 1 } })
  const { rows, holes, columns } = await encodeRowGroup(data, group)
  const version = new Types.ObjectId()
  const after = { version, unnoted, rows, columns: [...columns.keys()], ...(holes && { holes: Buffer.from(holes) }) }
  const chunks = [...columns].map(([column, stored]) => ({
    _id: new Types.ObjectId(),
    organization: rowGroups.organization,
    column,
    group,
    version,
    ...stored,
  }))
  const write = store.transaction(async tx => {
    if (before) {
      const removed = await rowGroups.deleteOne({ group, version: before.version }, { tx })
      if (removed.deletedCount === 0) throw new Superseded()
    }
    const written = [...new Set([...(before?.columns ?? []), ...columns.keys()])]
    await columnChunks.deleteMany({ column: { $in: written }, group }, { tx })
    await rowGroups.bulkWrite([insertOf({ _id: new Types.ObjectId(), group, ...after })], { tx })
    await columnChunks.bulkWrite(chunks.map(insertOf), { tx })
    for (let from = 0; from < notes.length; from += NOTES) {
      const ids = notes.slice(from, from + NOTES).map(({ _id }) => _id)
      await staleRows.deleteMany({ group, _id: { $in: ids } }, { tx })
    }
  })
  return write.then(
    () => true,
    error => {
      if (error instanceof Superseded || isDuplicate(error)) return false
      throw error
    },
  )
}

/** Encodes the columns of a row group from its records as they are now. */
export async function encodeRowGroup(
  { records, positions, fields }: Pick<ColumnData, 'records' | 'positions' | 'fields'>,
  group: number,
): Promise<Encoded> {
  const start = startOf(group)
  const { last } = await positions.read() // before the records: positions up to here are taken for good
  const rows = Math.max(0, Math.min(GROUP_ROWS, last - start))
  const decode = documentReader<{ position: number }>([...topLevelOf(fields), 'position'])
  const encoders = createEncoders(fields)
  const isThere = new Uint8Array(rows)
  const range = { position: { $gt: start, $lte: start + rows } }
  if (rows > 0)
    for await (const reply of records.findRaw(range, { ...COMMITTED, batchSize: BATCH }))
      for (const record of reply.map(decode)) {
        const row = rowOf(record.position)
        isThere[row] = 1
        encoders.set(row, record)
      }
  const columns = new Map<string, StoredColumn>()
  for (const [column, encoder] of encoders.byColumn) {
    columns.set(column, encoder.encode(rows))
    await nextTurn()
  }
  return { rows, holes: holesOf(isThere), columns }
}

/** Collects the values of records for a column of each field that has some. */
export function createEncoders(fields: ColumnFields) {
  const byColumn = new Map<string, ColumnEncoder>()
  const encoderOf = (column: string) => {
    const encoder = byColumn.get(column) ?? createColumnEncoder()
    byColumn.set(column, encoder)
    return encoder
  }
  return {
    byColumn: byColumn as ReadonlyMap<string, ColumnEncoder>,
    set(row: number, record: object): void {
      for (const [column, value] of valuesOf(fields, record as Record<string, unknown>))
        if (value !== undefined) encoderOf(column).set(row, value)
    },
  }
}

/** Lets requests run between columns. */
function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

function holesOf(isThere: Uint8Array): Uint8Array | undefined {
  if (!isThere.includes(0)) return undefined
  const bits = new Uint8Array(Math.ceil(isThere.length / 8))
  isThere.forEach((there, row) => {
    if (!there) bits[row >> 3]! |= 1 << (row & 7)
  })
  return bits
}
