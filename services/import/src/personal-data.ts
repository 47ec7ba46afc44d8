import type { CsvFormat } from '@rollcall/csv'
import type { Person, PersonalDataOf } from '@rollcall/service'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import { FAILURES_KEPT, type FailedRow, type Import } from './imports/import.model.ts'
import { eraseUploads } from './uploads/erase-uploads.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  uploads: {
    holds: 'names and headers of files',
    kept: '30 minutes without a start, else until the import ends',
    erase: eraseNames,
  },
  chunks: {
    holds: 'uploaded files',
    kept: '30 minutes without a start, else until the import ends, 7 days at most',
    erase: eraseUploads,
  },
  pending: 'none',
  imports: {
    holds: 'the first failed rows of an import, the first rows of a dry run, names and headers of files',
    kept: `${FAILURES_KEPT}; names and headers without limit`,
    erase: eraseImports,
  },
  failedRows: {
    holds: 'failed rows of imported files',
    kept: FAILURES_KEPT,
    shown: { section: 'failedRows', needs: 'audience.read', find: rowsOf },
    erase: eraseFailedRows,
  },
}

/** Yields the failed rows with these fields of which one may name a person. */
function failedRowsWith({ collections }: Context, person: Person, fields: readonly string[]): AsyncIterable<FailedRow> {
  const { failedRows } = collections.of(person.organizationId)
  return failedRows.stream<FailedRow>([{ $match: { $or: fields.map(person.mayBeNamedIn) } }])
}

function isOf(person: Person, { value, cells }: FailedRow): boolean {
  return [value, ...cells].some(person.isNamedIn)
}

async function* rowsOf(context: Context, person: Person): AsyncGenerator<object> {
  for await (const failed of failedRowsWith(context, person, ['cells', 'value'])) {
    const { job, row, line, cells, message } = failed
    if (isOf(person, failed)) yield { import: String(job), row, line, cells, reason: message }
  }
}

/** Deletes the failed rows of a person, and takes a header that names the person out of the others. */
async function eraseFailedRows(context: Context, person: Person): Promise<number> {
  const { failedRows } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const failed of failedRowsWith(context, person, ['cells', 'value', 'column', 'message'])) {
    const { _id, column, message } = failed
    if (isOf(person, failed)) erased += (await failedRows.deleteOne({ _id })).deletedCount
    else await failedRows.updateOne({ _id }, { $set: person.without({ column, message }) })
  }
  return erased
}

const NAMES = ['format.headers', 'fileName']

/** Takes the person out of a file's name and headers. A first row of data that was read as headers can name it. */
async function eraseNames({ collections }: Context, person: Person): Promise<number> {
  const { uploads } = collections.of(person.organizationId)
  let erased = 0
  for (const { _id, fileName, format } of await uploads.find({ $or: NAMES.map(person.mayBeNamedIn) })) {
    const change = { fileName: person.without(fileName), 'format.headers': headersWithout(person, format) }
    erased += (await uploads.updateOne({ _id }, { $set: change })).modifiedCount
  }
  return erased
}

/** Returns the headers of a file without a person, if one has an address of it. Each stays unique. */
function headersWithout(person: Person, { headers }: CsvFormat): string[] {
  if (!headers.some(person.isNamedIn)) return headers
  return headers.map((header, index) => {
    const erased = person.without(header)
    return erased === header ? header : `${erased} ${index + 1}`
  })
}

/** Blanks the failures that an import shows, and drops the rows that a dry run shows. A mapping follows the headers. */
async function eraseImports({ collections }: Context, person: Person): Promise<number> {
  const { imports } = collections.of(person.organizationId)
  const fields = ['errors.value', 'errors.message', 'errors.column', 'preview.email', ...NAMES]
  const named = { $or: fields.map(person.mayBeNamedIn) }
  let erased = 0
  for await (const job of imports.stream<Import>([{ $match: named }])) {
    const { _id, errors, preview, fileName, format, mapping, fence } = job
    const headers = headersWithout(person, format)
    const change = {
      fileName: person.without(fileName),
      'format.headers': headers,
      mapping: mapping.map(([header, target]) => [headers[format.headers.indexOf(header)]!, target]),
      errors: person.without(errors),
      preview: preview.filter(row => !person.isNamedIn(row)),
    }
    // A worker that continues with what it has read must not write it again: it loses the job.
    erased += (await imports.updateOne({ _id, fence }, { $set: change, $inc: { fence: 1 } })).modifiedCount
  }
  return erased
}
