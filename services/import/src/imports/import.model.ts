import type { Checkpoint, CsvFormat } from '@rollcall/csv'
import type { Actor } from '@rollcall/rpc'
import { type mongo, Schema, type Types } from 'mongoose'
import type { Counts } from './import-counters.ts'

/** States of jobs that have work left. */
export const unfinished: Import['state'][] = ['waiting', 'active']

/** `failedReason` of an import that was cancelled. */
export const CANCELLED_REASON = 'cancelled'

/** How long failed rows and the rows of dry runs are kept, in words of the guide for operators. */
export const FAILURES_KEPT = '30 days after the end of the import'

/** What a dry run shows of a row: what it would create or update. */
export type RowPreview = {
  row: number
  email: string
  outcome: 'created' | 'updated'
  changes: { field: string; from: unknown; to: unknown }[]
}

/** Why a row failed. */
export type RowFailure = {
  /** 1-based over data rows. */
  row: number
  /** Physical line, from 1. */
  line: number
  /** The header, and the target it is mapped to. */
  column: string | null
  field: string | null
  value: string
  code: string
  message: string
}

/** An import job. The record is authoritative; the queue only holds wake-ups. */
export type Import = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** A dry run writes nothing but this record; an undo reverts the batches of another job. */
  kind: 'import' | 'dry-run' | 'undo'
  /** Of an undo: the import; of an import: its undo. */
  undoes: Types.ObjectId | null
  undoneBy: Types.ObjectId | null
  upload: Types.ObjectId
  fileName: string | null
  format: CsvFormat
  /** Header to target, in pairs: a header can be any text, even one that cannot be a key. */
  mapping: [header: string, target: string][]
  duplicateStrategy: 'update' | 'skip'
  emptyValues: 'ignore' | 'clear'
  tags: string[]
  /** Lists that every imported contact is added to. */
  lists: Types.ObjectId[]
  createdBy: Actor
  state: 'waiting' | 'active' | 'completed' | 'failed'
  failedReason: string | null
  /** No more batches are sent; the outcomes of those in flight are not known yet. */
  cancelled: boolean
  /** Data rows of the file; contacts of an undo. */
  total: number
  duplicatesInFile: number
  /** The bytes of `RowStatuses`; null before pass 1 and after the end of the job. */
  rowStatuses: mongo.Binary | null
  /** Checkpoint of pass 2; null where it has nothing to do. */
  unchecked: Checkpoint | null
  /** Checkpoint of pass 3: where the next batch begins, and its number. Of an undo: how many rows and batches are undone. */
  checkpoint: Checkpoint
  nextBatch: number
  counts: Counts
  /** The first hundred failures. */
  errors: RowFailure[]
  preview: RowPreview[]
  /** Its failed rows are deleted. Imports that ended in former releases may have no mark. */
  failuresExpired: boolean
  /** Fencing token, raised by each worker that acquires the job: a write with an older one is refused. */
  fence: number
  /** Slices in a row that failed although the audience was up. */
  failures: number
  /** Milliseconds of work so far. */
  workedMs: number
  startedAt: Date | null
  finishedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const actorSchema = new Schema<Actor>(
  { kind: String, id: { type: String, default: null }, name: String },
  { _id: false, id: false },
)

export const importSchema = new Schema<Import>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    kind: { type: String, required: true },
    undoes: { type: Schema.Types.ObjectId, default: null },
    undoneBy: { type: Schema.Types.ObjectId, default: null },
    upload: { type: Schema.Types.ObjectId, required: true },
    fileName: { type: String, default: null },
    format: { type: Schema.Types.Mixed, required: true },
    mapping: { type: [[String]], required: true },
    duplicateStrategy: { type: String, required: true },
    emptyValues: { type: String, required: true },
    tags: [String],
    lists: [Schema.Types.ObjectId],
    createdBy: { type: actorSchema, required: true },
    state: { type: String, default: 'waiting' },
    failedReason: { type: String, default: null },
    cancelled: { type: Boolean, default: false },
    total: { type: Number, required: true },
    duplicatesInFile: { type: Number, default: 0 },
    rowStatuses: { type: Schema.Types.Mixed, default: null },
    unchecked: { type: Schema.Types.Mixed, default: null },
    checkpoint: { type: Schema.Types.Mixed, required: true },
    nextBatch: { type: Number, default: 0 },
    counts: { type: Schema.Types.Mixed, required: true },
    errors: { type: Schema.Types.Mixed, default: [] },
    preview: { type: Schema.Types.Mixed, default: [] },
    failuresExpired: { type: Boolean, default: false },
    fence: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    workedMs: { type: Number, default: 0 },
    startedAt: { type: Date, default: null },
    finishedAt: { type: Date, default: null },
  },
  { collection: 'imports', timestamps: true, minimize: false, suppressReservedKeysWarning: true },
)
// An upload is imported once, after any number of dry runs.
importSchema.index(
  { organization: 1, upload: 1 },
  { name: 'imported_once', unique: true, partialFilterExpression: { kind: 'import' } },
)
// Holds only unfinished jobs, which are few.
importSchema.index({ state: 1, organization: 1 }, { partialFilterExpression: { state: { $in: unfinished } } })
// Finds imports whose failed rows expire.
importSchema.index({ finishedAt: 1 })

/** A failed row as the error file shows it. */
export type FailedRow = RowFailure & {
  _id: Types.ObjectId
  organization: Types.ObjectId
  job: Types.ObjectId
  /** The cells as in the file, and the index of an unreadable one. */
  cells: string[]
  faulty: number | null
}

export const failedRowSchema = new Schema<FailedRow>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    job: { type: Schema.Types.ObjectId, required: true },
    row: { type: Number, required: true },
    line: { type: Number, required: true },
    column: { type: String, default: null },
    field: { type: String, default: null },
    value: { type: String, default: '' },
    code: { type: String, required: true },
    message: { type: String, required: true },
    cells: [String],
    faulty: { type: Number, default: null },
  },
  { collection: 'failed_rows', versionKey: false },
)
failedRowSchema.index({ organization: 1, job: 1, row: 1 }, { unique: true })
