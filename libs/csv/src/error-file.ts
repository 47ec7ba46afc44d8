import type { Row, RowError } from './model.ts'
import { csvRow, unguard } from './write.ts'

/** A failed row for an error file. */
export type ReportedRow = {
  row: number
  line: number
  code: string
  message: string
  /** The cells as they are in the file. */
  cells: readonly string[]
  /** Index of the cell that could not be read, or null. */
  faulty: number | null
}

/**
 * Contains a copy of the value that could not be read. While copy and cell are equal, the value is not corrected. A
 * program that changes one when it saves the file changes both.
 */
const UNCORRECTED_COLUMN = '_uncorrected'

/** Values of a row's report columns, by column. */
const reports: ReadonlyMap<string, (failed: ReportedRow) => string> = new Map([
  ['_row', ({ row }) => String(row)],
  ['_line', ({ line }) => String(line)],
  ['_code', ({ code }) => code],
  ['_error', ({ message }) => message],
  [UNCORRECTED_COLUMN, ({ cells, faulty }) => unguard(cells[faulty ?? -1] ?? '')],
])

/** Maximum number of columns that an error file adds. */
export const REPORT_COLUMN_COUNT = reports.size

/** Whether a column is one that error files add. */
export function isReportColumn(header: string): boolean {
  return reports.has(header)
}

/** Writes the lines of an error file. */
export type ErrorFile = { head: string; lineOf(failed: ReportedRow): string }

/**
 * Creates an error file: failed rows that can be corrected and imported like any other file. It has the columns of
 * their file, followed by the error's columns, which replace those of an earlier error file.
 * @param headers of the file that contains the rows
 * @param imported headers that are kept even if they are named like the error's columns
 */
export function errorFile(headers: readonly string[], imported: readonly string[]): ErrorFile {
  const isOwn = (header: string) => imported.includes(header) || !isReportColumn(header)
  const own = [...headers.entries()].filter(([, header]) => isOwn(header))
  const added = [...reports].filter(([header]) => !imported.includes(header))
  return {
    head: csvRow([...own.map(([, header]) => header), ...added.map(([header]) => header)]),
    lineOf: failed =>
      csvRow([...own.map(([index]) => unguard(failed.cells[index]!)), ...added.map(([, report]) => report(failed))]),
  }
}

/**
 * Returns the check for rows of an error file that still have their unreadable value. Without it, these rows would be
 * imported with a damaged value. Returns null if the headers are not those of an error file.
 */
export function correctionCheck(headers: readonly string[]): ((row: Row) => RowError | null) | null {
  const kept = headers.indexOf(UNCORRECTED_COLUMN)
  if (kept === -1) return null
  return ({ cells }) => {
    const value = cells[kept]!
    const isUncorrected = (cell: string, index: number) => index !== kept && (cell === value || cell.includes('\ufffd'))
    const column = value.trim() === '' ? -1 : cells.findIndex(isUncorrected)
    return column === -1 ? null : { code: 'uncorrected', message: UNCORRECTED_MESSAGE, column }
  }
}

const UNCORRECTED_MESSAGE = `a value is not corrected yet; if it is right, clear "${UNCORRECTED_COLUMN}"`
