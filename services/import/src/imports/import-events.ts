import { event, type OutgoingEvent } from '@rollcall/store'
import { CANCELLED_REASON, type Import } from './import.model.ts'
import type { Counts } from './import-counters.ts'

/** Events of a job that ran to its end; a dry run has none. */
export function completionEvents(job: Import): OutgoingEvent[] {
  const { _id, organization, kind, undoes, counts } = job
  if (kind === 'import') return [event('audience.import_completed', job, { jobId: _id, ...outcomesOf(job, counts) })]
  if (kind === 'dry-run' || !undoes) return []
  const { removed, updated: restored, skipped: kept } = counts
  const data = { jobId: undoes, undoJobId: _id, removed, restored, kept }
  return [event('audience.import_undone', { _id: undoes, organization }, data)]
}

/** Events of a job that ended early, with what it had done by then; only imports have any. */
export function failureEvents(job: Import, reason: string, counts: Counts): OutgoingEvent[] {
  if (job.kind !== 'import') return []
  const outcomes = outcomesOf(job, counts)
  return reason === CANCELLED_REASON
    ? [event('audience.import_cancelled', job, { jobId: job._id, ...outcomes })]
    : [event('audience.import_failed', job, { jobId: job._id, reason, ...outcomes })]
}

function outcomesOf({ total }: Import, { created, updated, unchanged, skipped, failed }: Counts) {
  return { total, created, updated, unchanged, skipped, failed }
}
