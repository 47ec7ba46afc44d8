import type { Batch } from '@rollcall/csv'
import { EmailIndex } from '../uploads/email-index.ts'
import type { Import } from './import.model.ts'
import { type Column, mapRow } from './map-row.ts'

/**
 * Looks through a whole file for rows of one email: of those that can be imported the last wins under `update`, the
 * first under `skip`. To know it beforehand makes batches independent of each other: no email is in two of them.
 * @returns a bit for each row that loses, and how many rows have an email that stood in an earlier one
 */
export async function findLosers(
  batches: AsyncIterable<Batch>,
  columns: readonly Column[],
  { total, duplicateStrategy, emptyValues }: Pick<Import, 'total' | 'duplicateStrategy' | 'emptyValues'>,
): Promise<{ losers: Uint8Array; duplicatesInFile: number }> {
  const losers = new Uint8Array(Math.ceil((total + 1) / 8))
  const winners = new EmailIndex()
  let duplicatesInFile = 0
  for await (const { rows } of batches) {
    for (const source of rows) {
      const { row } = mapRow(source, columns, emptyValues)
      if (!row) continue
      const before = winners.note(row.email, row.row)
      if (before === 0) continue
      duplicatesInFile++
      mark(losers, duplicateStrategy === 'skip' ? row.row : before)
    }
  }
  return { losers, duplicatesInFile }
}

/** Whether a row loses to another of its email. */
export function isLoser(losers: Uint8Array, row: number): boolean {
  return (losers[row >> 3]! & (1 << (row & 7))) !== 0
}

function mark(losers: Uint8Array, row: number): void {
  losers[row >> 3]! |= 1 << (row & 7)
}
