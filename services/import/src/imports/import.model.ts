import type { Checkpoint, CsvFormat } from '@rollcall/csv'
import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import type { FieldTable } from '@rollcall/store'
import { type mongo, type PipelineStage, Schema, type Types } from 'mongoose'

/** `failedReason` of an import that was cancelled. */
export const cancelledReason = 'cancelled'

/** What became of the rows so far; of an undo, of the contacts. */
export type Counts = {
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
  /** Contacts that an undo has deleted. */
  removed: number
  optOutsKept: number
  addedToLists: number
}

/** Where every job begins. */
export const noCounts: Readonly<Counts> = {
  created: 0,
  updated: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  removed: 0,
  optOutsKept: 0,
  addedToLists: 0,
}

/** Counts with more added to them. */
export function sum(counts: Counts, more: Partial<Counts>): Counts {
  const total = { ...counts }
  for (const [name, count] of Object.entries(more) as [keyof Counts, number][]) total[name] += count
  return total
}

/** What the audience made of rows; those that it refused are counted with the others that failed. */
export function countsOf({ outcomes, optOutsKept, addedToLists }: ApplyBatchResponse): Counts {
  const counts = { ...noCounts, optOutsKept, addedToLists }
  for (const outcome of outcomes) {
    if (outcome === 'CREATED') counts.created++
    else if (outcome === 'UPDATED') counts.updated++
    else if (outcome === 'UNCHANGED') counts.unchanged++
    else if (outcome === 'SKIPPED') counts.skipped++
  }
  return counts
}

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

/** An import job. The database is the truth about it; the queue holds wake-ups only. */
export type Import = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** A dry run writes nothing but this record; an undo takes back the batches of another job. */
  kind: 'import' | 'dry-run' | 'undo'
  /** Of an undo: the import; of an import: the undo that has taken it back. */
  undoes: Types.ObjectId | null
  undoneBy: Types.ObjectId | null
  upload: Types.ObjectId
  fileName: string | null
  format: CsvFormat
  /** Header to target, in pairs: a header may be any text, also one that cannot be a key. */
  mapping: [header: string, target: string][]
  duplicateStrategy: 'update' | 'skip'
  emptyValues: 'ignore' | 'clear'
  tags: string[]
  /** Lists that every imported contact is added to. */
  lists: Types.ObjectId[]
  createdBy: Actor
  state: 'waiting' | 'active' | 'completed' | 'failed'
  failedReason: string | null
  /** Nobody works on it any more, but what became of its last batches is not known yet. */
  cancelled: boolean
  /** Data rows of the file; contacts of an undo. */
  total: number
  duplicatesInFile: number
  /** What is known of each row before the first batch, as `Fates` keeps it. Null until the file was looked through. */
  fates: mongo.Binary | null
  /** From where on the audience has still to be asked about rows that share their email; null: nowhere. */
  unchecked: Checkpoint | null
  /** Where the next batch begins, and its number. Of an undo: how many rows and batches are taken back. */
  checkpoint: Checkpoint
  nextBatch: number
  counts: Counts
  /** The first hundred failures. */
  errors: RowFailure[]
  preview: RowPreview[]
  /** Raised by whoever takes the job over: a write with an older one is refused. */
  fence: number
  /** Turns in a row that failed although the audience can be asked. */
  setbacks: number
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
    fates: { type: Schema.Types.Mixed, default: null },
    unchecked: { type: Schema.Types.Mixed, default: null },
    checkpoint: { type: Schema.Types.Mixed, required: true },
    nextBatch: { type: Number, default: 0 },
    counts: { type: Schema.Types.Mixed, required: true },
    errors: { type: Schema.Types.Mixed, default: [] },
    preview: { type: Schema.Types.Mixed, default: [] },
    fence: { type: Number, default: 0 },
    setbacks: { type: Number, default: 0 },
    workedMs: { type: Number, default: 0 },
    startedAt: { type: Date, default: null },
    finishedAt: { type: Date, default: null },
  },
  { collection: 'imports', timestamps: true, minimize: false, suppressReservedKeysWarning: true },
)
// An upload is imported once, however many dry runs come before.
importSchema.index(
  { organization: 1, upload: 1 },
  { name: 'imported_once', unique: true, partialFilterExpression: { kind: 'import' } },
)
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
  /** The cells as they stood in the file, and which of them could not be read. */
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

type Progress = Omit<Import, 'mapping'>

/** Progress of a job in whole percent: 100 only when it is complete. */
export function progressOf({ state, checkpoint, total }: Progress): number {
  return state === 'completed' ? 100 : Math.min(99, Math.floor((checkpoint.row * 100) / Math.max(total, 1)))
}

function speedOf({ workedMs, checkpoint }: Progress): number {
  return workedMs > 0 ? Math.round((checkpoint.row * 1000) / workedMs) : 0
}

function errorsUrlOf({ _id }: Progress): string {
  return `/api/audience/import/${_id}/errors`
}

/** A stage that adds what lists show of a job but do not find stored so: as the functions above, for filters and sorts. */
export function showComputed(): PipelineStage {
  const progress = { $floor: { $divide: [{ $multiply: ['$checkpoint.row', 100] }, { $max: ['$total', 1] }] } }
  const speed = { $add: [{ $divide: [{ $multiply: ['$checkpoint.row', 1000] }, '$workedMs'] }, 0.5] }
  return {
    $addFields: {
      mapping: { $arrayToObject: '$mapping' },
      shown: {
        progress: { $cond: [{ $eq: ['$state', 'completed'] }, 100, { $min: [99, progress] }] },
        rowsPerSecond: { $cond: [{ $gt: ['$workedMs', 0] }, { $floor: speed }, 0] },
        errorsUrl: { $concat: ['/api/audience/import/', { $toString: '$_id' }, '/errors'] },
      },
    },
  }
}

/** Fields of a job by which lists may filter and sort, and to which they may be cut; with `showComputed`. */
export const importFields: FieldTable = {
  kind: 'string',
  fileName: 'string',
  state: 'string',
  progress: { type: 'number', path: 'shown.progress' },
  failedReason: 'string',
  mapping: 'object',
  'mapping.*': 'string',
  duplicateStrategy: 'string',
  tags: 'string[]',
  emptyValues: 'string',
  listIds: { type: 'objectId[]', path: 'lists' },
  undoes: 'objectId',
  undoneBy: 'objectId',
  createdBy: 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  startedAt: 'date',
  finishedAt: 'date',
  result: { type: 'object', path: 'counts' },
  ...Object.fromEntries(
    Object.keys(noCounts).map(name => [`result.${name}`, { type: 'number', path: `counts.${name}` }] as const),
  ),
  'result.total': { type: 'number', path: 'total' },
  'result.duplicatesInFile': { type: 'number', path: 'duplicatesInFile' },
  'result.durationMs': { type: 'number', path: 'workedMs' },
  'result.rowsPerSecond': { type: 'number', path: 'shown.rowsPerSecond' },
  'result.errorsUrl': { type: 'string', path: 'shown.errorsUrl' },
  'result.errors': { type: 'object[]', path: 'errors' },
  'result.errors.row': { type: 'number', path: 'errors.row' },
  'result.errors.line': { type: 'number', path: 'errors.line' },
  'result.errors.column': { type: 'string', path: 'errors.column' },
  'result.errors.field': { type: 'string', path: 'errors.field' },
  'result.errors.value': { type: 'string', path: 'errors.value' },
  'result.errors.code': { type: 'string', path: 'errors.code' },
  'result.errors.message': { type: 'string', path: 'errors.message' },
  'result.preview': { type: 'object[]', path: 'preview' },
  'result.preview.row': { type: 'number', path: 'preview.row' },
  'result.preview.email': { type: 'string', path: 'preview.email' },
  'result.preview.outcome': { type: 'string', path: 'preview.outcome' },
}

/** What a job came to so far, as the API shows it. */
export function resultOf(job: Progress) {
  return {
    total: job.total,
    created: job.counts.created,
    updated: job.counts.updated,
    unchanged: job.counts.unchanged,
    skipped: job.counts.skipped,
    failed: job.counts.failed,
    removed: job.counts.removed,
    duplicatesInFile: job.duplicatesInFile,
    optOutsKept: job.counts.optOutsKept,
    durationMs: job.workedMs,
    rowsPerSecond: speedOf(job),
    addedToLists: job.counts.addedToLists,
    errors: job.errors,
    preview: job.preview,
    errorsUrl: errorsUrlOf(job),
  }
}

/** A job as `showComputed` leaves it. */
export type ListedImport = Omit<Import, 'mapping'> & { mapping: Record<string, string> }

/** A job as lists show it. */
export function presentImport(job: ListedImport) {
  return {
    _id: job._id,
    id: job._id,
    kind: job.kind,
    fileName: job.fileName,
    state: job.state,
    progress: progressOf(job),
    result: resultOf(job),
    failedReason: job.failedReason,
    mapping: job.mapping,
    duplicateStrategy: job.duplicateStrategy,
    tags: job.tags,
    emptyValues: job.emptyValues,
    listIds: job.lists,
    undoes: job.undoes,
    undoneBy: job.undoneBy,
    createdBy: job.createdBy,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  }
}
