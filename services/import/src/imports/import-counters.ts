import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { ImportResultJson } from '@rollcall/protos/gen/import-v1.ts'

/** The counts of a job that starts. `removed`: contacts that an undo has deleted. */
export const noCounts = {
  created: 0,
  updated: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  removed: 0,
  optOutsKept: 0,
  addedToLists: 0,
} as const satisfies Partial<ImportResultJson>

/** Outcomes so far, counted by row; of an undo, by contact. */
export type Counts = Record<keyof typeof noCounts, number>

/** Returns counts with more added to them. */
export function sum(counts: Counts, more: Partial<Counts>): Counts {
  const total = { ...counts }
  for (const [name, count] of Object.entries(more) as [keyof Counts, number][]) total[name] += count
  return total
}

/** Counts the outcomes of a batch, without its failures: those are counted with the rows that the audience never got. */
export function countsOf({ outcomes, optOutsKept, addedToLists }: ApplyBatchResponse): Counts {
  const counts = { ...noCounts, optOutsKept, addedToLists }
  for (const outcome of outcomes) {
    if (outcome === 'CREATED') counts.created++
    else if (outcome === 'UPDATED') counts.updated++
    else if (outcome === 'UNCHANGED') counts.unchanged++
    else if (outcome === 'SKIPPED') counts.skipped++
  }
  return counts
}
