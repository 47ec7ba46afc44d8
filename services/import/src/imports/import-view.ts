import type { FieldTable } from '@rollcall/store'
import type { PipelineStage } from 'mongoose'
import type { Import } from './import.model.ts'
import { noCounts } from './import-counters.ts'

/** A job as the stages of `computedFields` leave it. */
export type ShownImport = Omit<Import, 'mapping' | 'fates'> & {
  mapping: Record<string, string>
  shown: {
    /** Whole percent: 100 only when the job is complete. */
    progress: number
    rowsPerSecond: number
    errorsUrl: string
  }
}

/** Stages that compute what is shown of a job but not stored, so that lists can filter and sort by it. */
export function computedFields(): PipelineStage[] {
  const progress = { $floor: { $divide: [{ $multiply: ['$checkpoint.row', 100] }, { $max: ['$total', 1] }] } }
  const speed = { $add: [{ $divide: [{ $multiply: ['$checkpoint.row', 1000] }, '$workedMs'] }, 0.5] }
  const computed = {
    mapping: { $arrayToObject: '$mapping' },
    shown: {
      progress: { $cond: [{ $eq: ['$state', 'completed'] }, 100, { $min: [99, progress] }] },
      rowsPerSecond: { $cond: [{ $gt: ['$workedMs', 0] }, { $floor: speed }, 0] },
      errorsUrl: { $concat: ['/api/audience/import/', { $toString: '$_id' }, '/errors'] },
    },
  }
  return [{ $project: { fates: 0 } }, { $addFields: computed }]
}

/** Fields of a job for filters, sorts and projections, after the stages of `computedFields`. */
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

/** Returns the result of a job so far, as the API shows it. */
export function resultOf(job: ShownImport) {
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
    rowsPerSecond: job.shown.rowsPerSecond,
    addedToLists: job.counts.addedToLists,
    errors: job.errors,
    preview: job.preview,
    errorsUrl: job.shown.errorsUrl,
  }
}

/** Returns a job as lists show it. */
export function presentImport(job: ShownImport) {
  return {
    _id: job._id,
    id: job._id,
    kind: job.kind,
    fileName: job.fileName,
    state: job.state,
    progress: job.shown.progress,
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
