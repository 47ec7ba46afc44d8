import { type ImportJobJson, type ImportResultJson, importJobFields } from '@rollcall/protos/gen/import-v1.ts'
import { type FieldTable, type FieldType, presenter } from '@rollcall/store'
import type { PipelineStage } from 'mongoose'
import type { Import } from './import.model.ts'
import { noCounts } from './import-counters.ts'

/** A job as the stages of `computedFields` leave it. */
export type ShownImport = Omit<Import, 'mapping' | 'rowStatuses'> & {
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
  return [{ $project: { rowStatuses: 0 } }, { $addFields: computed }]
}

type PublicField = keyof typeof importJobFields

/** Where the fields are that are not stored by their own name, after the stages of `computedFields`. */
const paths: Partial<Record<PublicField, string>> = {
  progress: 'shown.progress',
  listIds: 'lists',
  result: 'counts',
  ...Object.fromEntries(Object.keys(noCounts).map(name => [`result.${name}`, `counts.${name}`])),
  'result.total': 'total',
  'result.duplicatesInFile': 'duplicatesInFile',
  'result.durationMs': 'workedMs',
  'result.rowsPerSecond': 'shown.rowsPerSecond',
  'result.errorsUrl': 'shown.errorsUrl',
  'result.errors': 'errors',
  'result.preview': 'preview',
}

/** Fields of a job for filters, sorts and projections, after the stages of `computedFields`. */
export const importFields: FieldTable = {
  ...Object.fromEntries(
    Object.entries(importJobFields).map(([name, type]) => [name, stored(name as PublicField, type)]),
  ),
  'mapping.*': 'string',
  'result.errors.row': { type: 'number', path: 'errors.row' },
  'result.errors.line': { type: 'number', path: 'errors.line' },
  'result.errors.column': { type: 'string', path: 'errors.column' },
  'result.errors.field': { type: 'string', path: 'errors.field' },
  'result.errors.value': { type: 'string', path: 'errors.value' },
  'result.errors.code': { type: 'string', path: 'errors.code' },
  'result.errors.message': { type: 'string', path: 'errors.message' },
  'result.preview.row': { type: 'number', path: 'preview.row' },
  'result.preview.email': { type: 'string', path: 'preview.email' },
  'result.preview.outcome': { type: 'string', path: 'preview.outcome' },
}

function stored(name: PublicField, type: FieldType): FieldTable[string] {
  const path = paths[name]
  return path === undefined ? type : { type, path }
}

/** Returns the result of a job so far, as the API shows it. */
export function resultOf(job: ShownImport): ImportResultJson {
  return {
    ...job.counts,
    total: job.total,
    duplicatesInFile: job.duplicatesInFile,
    durationMs: job.workedMs,
    rowsPerSecond: job.shown.rowsPerSecond,
    errors: job.errors,
    preview: job.preview,
    errorsUrl: job.shown.errorsUrl,
  }
}

const present = presenter<ImportJobJson>(importJobFields)

/** Returns a job as lists show it. */
export function presentImport(job: ShownImport): ImportJobJson {
  return present({ ...job, progress: job.shown.progress, result: resultOf(job), listIds: job.lists })
}
