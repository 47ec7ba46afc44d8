import type { Row } from '@rollcall/csv'
import type { ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import { mongo } from 'mongoose'
import { EmailIndex, recordEmail } from '../uploads/email-index.ts'
import { refusedRows, storeFailures } from './failed-rows.ts'
import { fileBatches, requestOf } from './file-batches.ts'
import { type Column, mapRow } from './map-row.ts'
import { RowStatuses } from './row-status.ts'
import { isOver, type Slice, saveProgress } from './slice.ts'

const CHECKPOINT_EVERY_MS = 1_000

/**
 * Passes 1 and 2 of an import: decides which of the rows with the same email is applied. Of those that are valid it is the
 * last under `update`, the first under `skip`. Batches are then independent of each other, since no email is in two of them.
 * @returns null where the slice is over before the end; the next slice resumes
 */
export async function resolveDuplicates(slice: Slice, columns: readonly Column[]): Promise<RowStatuses | null> {
  const { job } = slice
  const emailColumn = columns.find(({ target }) => target === 'email')!.index
  const statuses = job.rowStatuses ? new RowStatuses(job.rowStatuses.buffer) : await findDuplicates(slice, emailColumn)
  if (!job.unchecked) return statuses
  if (!(await validateDuplicates(slice, columns, statuses))) return null
  await supersedeDuplicates(slice, emailColumn, statuses)
  return statuses
}

/** Pass 1: marks the rows whose email occurs more than once in the file. */
async function findDuplicates(slice: Slice, emailColumn: number): Promise<RowStatuses> {
  const { job } = slice
  const statuses = new RowStatuses(job.total)
  const emails = new EmailIndex()
  let duplicatesInFile = 0
  for await (const { rows } of fileBatches(slice, job.format.start)) {
    for (const row of rows) {
      const before = recordEmail(emails, row, emailColumn)
      if (before === 0) continue
      duplicatesInFile++
      statuses.set(before, 'duplicate')
      statuses.set(row.row, 'duplicate')
    }
  }
  const unchecked = duplicatesInFile > 0 ? job.format.start : null
  await saveProgress(slice, { rowStatuses: new mongo.Binary(statuses.bytes), unchecked, duplicatesInFile })
  return statuses
}

/** Pass 2: validates the duplicates, and unmarks those that cannot be applied. @returns whether it reached the end */
async function validateDuplicates(slice: Slice, columns: readonly Column[], statuses: RowStatuses): Promise<boolean> {
  const { collections, job } = slice
  const from = job.unchecked!
  // Rows after the checkpoint are validated again, maybe with another outcome.
  await collections.failedRows.deleteMany({ job: job._id, row: { $gt: from.row } })
  for await (const { rows, checkpoint } of fileBatches(slice, from)) {
    const duplicates = rows.filter(({ row }) => statuses.of(row) === 'duplicate')
    if (duplicates.length > 0) await validateRows(slice, columns, statuses, duplicates)
    const over = await isOver(slice)
    if (over || performance.now() - slice.since > CHECKPOINT_EVERY_MS)
      await saveProgress(slice, { rowStatuses: new mongo.Binary(statuses.bytes), unchecked: checkpoint })
    if (over) return false
  }
  return true
}

/** Only the audience, which has the contacts, knows whether a row can be applied: a dry run asks it. */
async function validateRows(
  slice: Slice,
  columns: readonly Column[],
  statuses: RowStatuses,
  duplicates: readonly Row[],
): Promise<void> {
  const { context, collections, job, call } = slice
  const rows: ApplyBatchRequestRow[] = []
  for (const source of duplicates) {
    const { row } = mapRow(source, columns, job.emptyValues)
    if (row) rows.push(row)
    else statuses.set(source.row, 'unknown') // it fails in its batch
  }
  const answer = await context.batches.applyBatch({ ...requestOf(job, rows), number: 0, dryRun: true }, call)
  const rejected = refusedRows(job, duplicates, columns, answer)
  await storeFailures(collections, rejected)
  for (const { row } of rejected) statuses.set(row, 'rejected')
}

/** Marks all but one of the valid rows of each email as superseded. */
async function supersedeDuplicates(slice: Slice, emailColumn: number, statuses: RowStatuses): Promise<void> {
  const { job } = slice
  const emails = new EmailIndex()
  for await (const { rows } of fileBatches(slice, job.format.start)) {
    for (const row of rows) {
      if (statuses.of(row.row) !== 'duplicate') continue
      const before = recordEmail(emails, row, emailColumn)
      if (before > 0) statuses.set(job.duplicateStrategy === 'skip' ? row.row : before, 'superseded')
    }
  }
  await saveProgress(slice, { rowStatuses: new mongo.Binary(statuses.bytes), unchecked: null })
}
