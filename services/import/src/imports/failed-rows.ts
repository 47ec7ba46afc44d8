import type { Row } from '@rollcall/csv'
import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { insertOf, isDuplicate } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { FailedRow, Import, RowFailure } from './import.model.ts'
import type { Column } from './map-row.ts'

/** What is noted of a row that failed: whole cells, to be corrected; of all else as much as can be shown. */
export function failedRow({ _id: job, organization }: Import, { cells, error }: Row, failure: RowFailure): FailedRow {
  const { column, value, message } = failure
  const shown = {
    column: column && beginning(column, 1_000),
    value: beginning(value, 200),
    message: beginning(message, 1_000),
  }
  return { _id: new Types.ObjectId(), organization, job, ...failure, ...shown, cells, faulty: error?.column ?? null }
}

/** A copy: a text cut from a file may keep a whole piece of it in memory. */
function beginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

/** Rows that only the audience could refuse, a missing required attribute for one. */
export function refusedRows(
  job: Import,
  rows: readonly Row[],
  columns: readonly Column[],
  { failures }: ApplyBatchResponse,
): FailedRow[] {
  return failures.map(({ row, field, value, code, message }) => {
    const source = rows.find(candidate => candidate.row === row)!
    const target = field.replace(/^attributes\./, '')
    const column = columns.find(candidate => candidate.target === target)?.header ?? null
    return failedRow(job, source, { row, line: source.line, column, field, value, code, message })
  })
}

/** Keeps them for the error file. Noted twice they are one, since a job has each row once. */
export async function noteFailures({ failedRows }: Tenant, failures: readonly FailedRow[]): Promise<void> {
  try {
    await failedRows.bulkWrite(failures.map(insertOf))
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}
