import { badRequest, conflict, notFound } from './entry.ts'

type Reason = { reason: string }
const unreadable = () => badRequest((d: Reason) => d.reason, { path: 'file' })

/** Refusals of the import context. */
export const importErrors = {
  'import_job.not_found': notFound('import job'),
  'import.expired': badRequest('Import data expired. Please re-upload the CSV file.'),
  'import.mapping_incomplete': badRequest('mapping must include email and name', { path: 'mapping' }),
  'import.finished': conflict('the import has finished'),
  'import.unfinished': conflict('the import has not finished'),
  'import.undone': conflict('the import was already undone'),
  'import.not_undoable': conflict('only an import can be undone'),
  'import.not_cancellable': conflict('an undo cannot be cancelled'),

  // Codes and reasons of `CsvError`.
  'file.empty': unreadable(),
  'file.binary': unreadable(),
  'file.encoding': unreadable(),
  'file.headers': unreadable(),
  'file.rows': unreadable(),
  'file.no_rows': badRequest('the file has no data row', { path: 'file' }),
  'file.field_too_long': badRequest(
    (d: { line: number; column: string; maxLength: number }) =>
      `line ${d.line}, column ${d.column}: a field is longer than ${d.maxLength} characters`,
    { path: 'file' },
  ),
  'file.row_too_long': badRequest(
    (d: { line: number; maxLength: number }) => `line ${d.line}: a row is longer than ${d.maxLength} characters`,
    { path: 'file' },
  ),
}
