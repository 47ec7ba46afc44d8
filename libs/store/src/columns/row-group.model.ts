import { type mongo, Schema, type Types } from 'mongoose'
import type { StoredColumn } from './column.ts'

/** Positions in a row group: 1 to 4096 are group 0. */
export const GROUP_ROWS = 4096

/** What a row group holds. */
export type RowGroup = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  group: number
  /** Differs after every rewrite; equal to that of its columns. */
  version: Types.ObjectId
  /** `Positions.unnoted` before its records were read: other changes of older releases are missing in the notes. */
  unnoted: number
  /** Number of positions that it covers, from its first one on. */
  rows: number
  /** Positions without a record, as a bit for each row; left out if there are none. */
  holes?: mongo.Binary
  /** Its columns. No record of the group has another field. */
  columns: string[]
}

/** The values of one field in a row group. */
export type ColumnChunk = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  column: string
  group: number
  version: Types.ObjectId
} & { [K in keyof StoredColumn]: StoredColumn[K] extends Uint8Array | undefined ? mongo.Binary : StoredColumn[K] }

/** A document as it is read with `promoteBuffers`. */
export type WithBytes<D> = { [K in keyof D]: D[K] extends mongo.Binary | undefined ? Uint8Array : D[K] }

/** Rows of a group that were changed after its columns were written. */
export type StaleRows = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  group: number
  /** Changed, deleted or restored. Rows that were added are not covered by their group yet, so they need not be named. */
  positions: number[]
  /** Number of changed and added rows. */
  count: number
  at: Date
}

const organization = { type: Schema.Types.ObjectId, required: true }
const whole = { type: Number, required: true }

export const rowGroupSchema = new Schema<RowGroup>(
  {
    organization,
    group: whole,
    version: { type: Schema.Types.ObjectId, required: true },
    unnoted: whole,
    rows: whole,
    holes: Buffer,
    columns: { type: [String], required: true },
  },
  { collection: 'rowGroups', versionKey: false },
)
rowGroupSchema.index({ organization: 1, group: 1 }, { unique: true })

const bytes = Buffer
export const columnChunkSchema = new Schema<ColumnChunk>(
  {
    organization,
    column: { type: String, required: true },
    group: whole,
    version: { type: Schema.Types.ObjectId, required: true },
    specials: { type: [Number], default: undefined },
    numbers: bytes,
    dates: bytes,
    ids: bytes,
    text: bytes,
    ends: bytes,
    arrays: bytes,
    codes: bytes,
  },
  { collection: 'columnChunks', versionKey: false },
)
columnChunkSchema.index({ organization: 1, column: 1, group: 1 }, { unique: true })

export const staleRowsSchema = new Schema<StaleRows>(
  {
    organization,
    group: whole,
    positions: { type: [Number], required: true },
    count: whole,
    at: { type: Date, required: true },
  },
  { collection: 'staleRows', versionKey: false },
)
staleRowsSchema.index({ organization: 1, group: 1 })

/** The row group of a position. */
export function groupOf(position: number): number {
  return Math.floor((position - 1) / GROUP_ROWS)
}

/** The row of a position in its group. */
export function rowOf(position: number): number {
  return (position - 1) % GROUP_ROWS
}

/** The position before the first one of a group. */
export function startOf(group: number): number {
  return group * GROUP_ROWS
}
