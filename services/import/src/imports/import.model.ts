import type { Checkpoint, CsvFormat } from '@rollcall/csv'
import type { Actor } from '@rollcall/rpc'
import { type mongo, Schema, type Types } from 'mongoose'

/** What became of the rows so far. */
export type Counts = {
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
  optOutsKept: number
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

/** An import job. The database is the truth about it; the queue holds wake-ups only. */
export type Import = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  upload: Types.ObjectId
  fileName: string | null
  format: CsvFormat
  /** Header to target, in pairs: a header may be any text, also one that cannot be a key. */
  mapping: [header: string, target: string][]
  duplicateStrategy: 'update' | 'skip'
  emptyValues: 'ignore' | 'clear'
  tags: string[]
  createdBy: Actor
  state: 'waiting' | 'active' | 'completed' | 'failed'
  failedReason: string | null
  /** Data rows of the file. */
  total: number
  duplicatesInFile: number
  /** A bit for each row (row 1 first): set where another row of its email wins. Null until the file was looked through. */
  losers: mongo.Binary | null
  /** Where the next batch begins, and its number. */
  checkpoint: Checkpoint
  nextBatch: number
  counts: Counts
  /** The first hundred failures. */
  errors: RowFailure[]
  /** Raised by whoever takes the job over: a write with an older one is refused. */
  fence: number
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
    upload: { type: Schema.Types.ObjectId, required: true },
    fileName: { type: String, default: null },
    format: { type: Schema.Types.Mixed, required: true },
    mapping: { type: [[String]], required: true },
    duplicateStrategy: { type: String, required: true },
    emptyValues: { type: String, required: true },
    tags: [String],
    createdBy: { type: actorSchema, required: true },
    state: { type: String, default: 'waiting' },
    failedReason: { type: String, default: null },
    total: { type: Number, required: true },
    duplicatesInFile: { type: Number, default: 0 },
    losers: { type: Schema.Types.Mixed, default: null },
    checkpoint: { type: Schema.Types.Mixed, required: true },
    nextBatch: { type: Number, default: 0 },
    counts: { type: Schema.Types.Mixed, required: true },
    errors: { type: Schema.Types.Mixed, default: [] },
    fence: { type: Number, default: 0 },
    workedMs: { type: Number, default: 0 },
    startedAt: { type: Date, default: null },
    finishedAt: { type: Date, default: null },
  },
  { collection: 'imports', timestamps: true, minimize: false, suppressReservedKeysWarning: true },
)
importSchema.index({ organization: 1, upload: 1 }, { unique: true })
// Few at any time: those that have something to do.
importSchema.index(
  { state: 1, organization: 1 },
  { partialFilterExpression: { state: { $in: ['waiting', 'active'] } } },
)

/** A failed row as the error file shows it. */
export type FailedRow = RowFailure & {
  _id: Types.ObjectId
  organization: Types.ObjectId
  job: Types.ObjectId
  /** The cells as they stood in the file. */
  cells: string[]
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
  },
  { collection: 'failed_rows', versionKey: false },
)
failedRowSchema.index({ organization: 1, job: 1, row: 1 }, { unique: true })

/** Fields of a job that lists may filter and sort by. */
export const importFields = {
  fileName: 'string',
  state: 'string',
  failedReason: 'string',
  duplicateStrategy: 'string',
  emptyValues: 'string',
  tags: 'string[]',
  startedAt: 'date',
  finishedAt: 'date',
} as const

/** Progress of a job in whole percent: 100 only when it is complete. */
export function progressOf({ state, checkpoint, total }: Import): number {
  return state === 'completed' ? 100 : Math.min(99, Math.floor((checkpoint.row * 100) / total))
}

/** What a job came to so far, as the API shows it. */
export function resultOf(job: Import) {
  return {
    total: job.total,
    created: job.counts.created,
    updated: job.counts.updated,
    unchanged: job.counts.unchanged,
    skipped: job.counts.skipped,
    failed: job.counts.failed,
    duplicatesInFile: job.duplicatesInFile,
    optOutsKept: job.counts.optOutsKept,
    durationMs: job.workedMs,
    rowsPerSecond: job.workedMs > 0 ? Math.round((job.checkpoint.row * 1000) / job.workedMs) : 0,
    errors: job.errors,
    errorsUrl: `/api/audience/import/${job._id}/errors`,
  }
}

/** A job as lists show it. */
export function presentImport(job: Import) {
  const mapping: Record<string, string> = Object.create(null)
  for (const [header, target] of job.mapping) mapping[header] = target
  return {
    _id: job._id,
    id: job._id,
    fileName: job.fileName,
    state: job.state,
    progress: progressOf(job),
    result: resultOf(job),
    failedReason: job.failedReason,
    mapping,
    duplicateStrategy: job.duplicateStrategy,
    tags: job.tags,
    emptyValues: job.emptyValues,
    createdBy: job.createdBy,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  }
}
