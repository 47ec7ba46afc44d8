import type { Row, RowError } from './model.ts'
import { csvRow, unguard } from './write.ts'

/** A row that failed, as its error file shows it. */
export type ReportedRow = {
  row: number
  line: number
  code: string
  message: string
  /** As they stood in the file. */
  cells: readonly string[]
  /** Which of the cells could not be read; null where all of them could. */
  faulty: number | null
}

/**
 * Holds the value that could not be read, beside the cell where it stands for what it is not: as long as the two are the
 * same nobody has corrected it. Programs that change one when they save the file change both.
 */
const uncorrectedColumn = '_uncorrected'

/** What an error file says of a row, by the column that says it. */
const reports: ReadonlyMap<string, (failed: ReportedRow) => string> = new Map([
  ['_row', ({ row }) => String(row)],
  ['_line', ({ line }) => String(line)],
  ['_code', ({ code }) => code],
  ['_error', ({ message }) => message],
  [uncorrectedColumn, ({ cells, faulty }) => unguard(cells[faulty ?? -1] ?? '')],
])

/** How many columns an error file may have beyond those of the file itself. */
export const reportColumns = reports.size

/** Whether a column is one that error files add. */
export const isReportColumn = (header: string): boolean => reports.has(header)

/** Lines of an error file. */
export type ErrorFile = { head: string; lineOf(failed: ReportedRow): string }

/**
 * Writes failed rows so that they can be corrected and imported as any other file: the columns of the file they stood in,
 * and behind them what is wrong. What an earlier error file has said gives way to that.
 * @param headers of the file the rows stood in
 * @param imported those of them that stay, whatever their name
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
 * What tells rows of an error file that could not be read, and of which nobody has corrected the value: they would pass
 * for others now. Null with headers of a file that is none.
 */
export function correctionCheck(headers: readonly string[]): ((row: Row) => RowError | null) | null {
  const kept = headers.indexOf(uncorrectedColumn)
  if (kept === -1) return null
  return ({ cells }) => {
    const value = cells[kept]!
    const isUncorrected = (cell: string, index: number) => index !== kept && (cell === value || cell.includes('\ufffd'))
    const column = value.trim() === '' ? -1 : cells.findIndex(isUncorrected)
    return column === -1 ? null : { code: 'uncorrected', message: uncorrectedMessage, column }
  }
}

const uncorrectedMessage = `a value is still to be corrected; if it is right as it stands, empty "${uncorrectedColumn}"`
