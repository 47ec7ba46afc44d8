import type { Row } from '@rollcall/csv'
import type { ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import { mongo } from 'mongoose'
import { EmailIndex, noteEmail } from '../uploads/email-index.ts'
import { noteFailures, refusedRows } from './failed-rows.ts'
import { Fates } from './fates.ts'
import { fileBatches, requestOf } from './file-batches.ts'
import { type Column, mapRow } from './map-row.ts'
import { isOver, noteProgress, type Turn } from './turn.ts'

/** So often it is noted how far the audience was asked. */
const noteEveryMs = 1_000

/**
 * Looks through a whole file for rows of one email: of those that can be applied the last wins under `update`, the first
 * under `skip`. To know it beforehand makes batches independent of each other: no email is in two of them. Whether a row
 * can be applied may only the audience know, who has the contact, so it is asked for those that share their email.
 * @returns null where the turn is over before; the next one goes on
 */
export async function surveyFile(turn: Turn, columns: readonly Column[]): Promise<Fates | null> {
  const { job } = turn
  const emailColumn = columns.find(({ target }) => target === 'email')!.index
  const fates = job.fates ? new Fates(job.fates.buffer) : await findRivals(turn, emailColumn)
  if (!job.unchecked) return fates
  if (!(await checkRivals(turn, columns, fates))) return null
  await settleRivals(turn, emailColumn, fates)
  return fates
}

async function findRivals(turn: Turn, emailColumn: number): Promise<Fates> {
  const { job } = turn
  const fates = new Fates(job.total)
  const emails = new EmailIndex()
  let duplicatesInFile = 0
  for await (const { rows } of fileBatches(turn, job.format.start)) {
    for (const row of rows) {
      const before = noteEmail(emails, row, emailColumn)
      if (before === 0) continue
      duplicatesInFile++
      fates.set(before, 'rival')
      fates.set(row.row, 'rival')
    }
  }
  const unchecked = duplicatesInFile > 0 ? job.format.start : null
  await noteProgress(turn, { fates: new mongo.Binary(fates.bytes), unchecked, duplicatesInFile })
  return fates
}

/** Takes those out that cannot be applied. @returns whether all of them were looked at */
async function checkRivals(turn: Turn, columns: readonly Column[], fates: Fates): Promise<boolean> {
  const { collections, job } = turn
  const from = job.unchecked!
  // What was found out but not noted as far as this is found out anew, and may come out otherwise.
  await collections.failedRows.deleteMany({ job: job._id, row: { $gt: from.row } })
  for await (const { rows, checkpoint } of fileBatches(turn, from)) {
    const rivals = rows.filter(({ row }) => fates.of(row) === 'rival')
    if (rivals.length > 0) await checkRows(turn, columns, fates, rivals)
    const over = await isOver(turn)
    if (over || performance.now() - turn.since > noteEveryMs)
      await noteProgress(turn, { fates: new mongo.Binary(fates.bytes), unchecked: checkpoint })
    if (over) return false
  }
  return true
}

async function checkRows(turn: Turn, columns: readonly Column[], fates: Fates, rivals: readonly Row[]): Promise<void> {
  const { context, collections, job, call } = turn
  const rows: ApplyBatchRequestRow[] = []
  for (const source of rivals) {
    const { row } = mapRow(source, columns, job.emptyValues)
    if (row) rows.push(row)
    else fates.set(source.row, 'open') // it fails in its batch
  }
  const answer = await context.batches.applyBatch({ ...requestOf(job, rows), number: 0, dryRun: true }, call)
  const refused = refusedRows(job, rivals, columns, answer)
  await noteFailures(collections, refused)
  for (const { row } of refused) fates.set(row, 'refused')
}

async function settleRivals(turn: Turn, emailColumn: number, fates: Fates): Promise<void> {
  const { job } = turn
  const winners = new EmailIndex()
  for await (const { rows } of fileBatches(turn, job.format.start)) {
    for (const row of rows) {
      if (fates.of(row.row) !== 'rival') continue
      const before = noteEmail(winners, row, emailColumn)
      if (before > 0) fates.set(job.duplicateStrategy === 'skip' ? row.row : before, 'loser')
    }
  }
  await noteProgress(turn, { fates: new mongo.Binary(fates.bytes), unchecked: null })
}
