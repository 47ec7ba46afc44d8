import type { Person, PersonalDataOf } from '@rollcall/service'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import { FAILURES_KEPT, type FailedRow, type Import } from './imports/import.model.ts'
import { eraseRows } from './uploads/erase-rows.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  uploads: 'none',
  chunks: {
    holds: 'uploaded files',
    kept: '30 minutes without a start, else until the import ends, 7 days at most',
    erase: eraseUploads,
  },
  pending: 'none',
  imports: {
    holds: 'the first failed rows of an import, the first rows of a dry run',
    kept: FAILURES_KEPT,
    erase: eraseImports,
  },
  failedRows: {
    holds: 'failed rows of imported files',
    kept: FAILURES_KEPT,
    shown: { section: 'failedRows', needs: 'audience.read', find: rowsOf },
    erase: eraseFailedRows,
  },
}

/** Yields the failed rows that name a person. */
async function* failedRowsOf({ collections }: Context, person: Person): AsyncGenerator<FailedRow> {
  const { failedRows } = collections.of(person.organizationId)
  const named = { $or: ['cells', 'value'].map(person.mayBeNamedIn) }
  for await (const row of failedRows.stream<FailedRow>([{ $match: named }]))
    if ([row.value, ...row.cells].some(person.isNamedIn)) yield row
}

async function* rowsOf(context: Context, person: Person): AsyncGenerator<object> {
  for await (const { job, row, line, cells, message } of failedRowsOf(context, person))
    yield { import: String(job), row, line, cells, reason: message }
}

async function eraseFailedRows(context: Context, person: Person): Promise<number> {
  const { failedRows } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const { _id } of failedRowsOf(context, person))
    erased += (await failedRows.deleteOne({ _id })).deletedCount
  return erased
}

/** Blanks the failures that an import shows, and drops the rows that a dry run shows. */
async function eraseImports({ collections }: Context, person: Person): Promise<number> {
  const { imports } = collections.of(person.organizationId)
  const named = { $or: ['errors.value', 'errors.message', 'preview.email'].map(person.mayBeNamedIn) }
  let erased = 0
  for await (const { _id, errors, preview, fence } of imports.stream<Import>([{ $match: named }])) {
    const change = {
      errors: person.without(errors),
      preview: preview.filter(row => !person.isNamedIn(row)),
    }
    // A worker that continues with what it has read must not write it again: it loses the job.
    erased += (await imports.updateOne({ _id, fence }, { $set: change, $inc: { fence: 1 } })).modifiedCount
  }
  return erased
}

async function eraseUploads({ collections }: Context, person: Person): Promise<number> {
  const { uploads, chunks, imports } = collections.of(person.organizationId)
  let erased = 0
  const formats = new Map<string, Pick<Import, 'format'>>()
  for (const { _id, format } of await uploads.find({})) formats.set(String(_id), { format })
  for (const { upload, format } of await imports.find({ state: { $in: ['waiting', 'active'] } }))
    formats.set(String(upload), { format })
  for (const [upload, { format }] of formats) erased += await eraseRows(chunks, upload, format, person)
  return erased
}
