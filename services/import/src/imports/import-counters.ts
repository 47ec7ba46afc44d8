import type { ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'

/** Outcomes so far, counted by row; of an undo, by contact. */
export type Counts = {
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
  /** Contacts that an undo has deleted. */
  removed: number
  optOutsKept: number
  addedToLists: number
}

/** The counts of a job that starts. */
export const noCounts: Readonly<Counts> = {
  created: 0,
  updated: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  removed: 0,
  optOutsKept: 0,
  addedToLists: 0,
}

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
