import type { Row } from '@rollcall/csv'
import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { insertOf, isDuplicate } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { FailedRow, Import, RowFailure } from './import.model.ts'
import type { Column } from './map-row.ts'

/** Returns the record of a failed row: the whole cells, to be corrected, and the other texts truncated. */
export function failedRow({ _id: job, organization }: Import, { cells, error }: Row, failure: RowFailure): FailedRow {
  const { column, value, message } = failure
  const shown = {
    column: column && truncated(column, 1_000),
    value: truncated(value, 200),
    message: truncated(message, 1_000),
  }
  return { _id: new Types.ObjectId(), organization, job, ...failure, ...shown, cells, faulty: error?.column ?? null }
}

/** Copies the text: a slice would keep the whole chunk of the file in memory. */
function truncated(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

/** The audience refuses the rows of a contact that is being erased by this code. */
const ERASED = 'erased'

/**
 * Returns the rows that the audience refused, for example for a missing required attribute. Of a contact that is being
 * erased, nothing is stored.
 */
export function refusedRows(
  job: Import,
  rows: readonly Row[],
  columns: readonly Column[],
  { failures }: ApplyBatchResponse,
): FailedRow[] {
  return failures.map(({ row, field, value, code, message }) => {
    const found = rows.find(candidate => candidate.row === row)!
    const source = code === ERASED ? { ...found, cells: found.cells.map(() => '') } : found
    const target = field.replace(/^attributes\./, '')
    const column = columns.find(candidate => candidate.target === target)?.header ?? null
    return failedRow(job, source, { row, line: source.line, column, field, value, code, message })
  })
}

/** Stores failed rows for the error file. Idempotent: a job has each row once. */
export async function storeFailures({ failedRows }: Tenant, failures: readonly FailedRow[]): Promise<void> {
  try {
    await failedRows.bulkWrite(failures.map(insertOf))
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}
