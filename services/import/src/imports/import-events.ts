import { randomUUID } from 'node:crypto'
import type { Event } from '@rollcall/runtime'
import type { Types } from 'mongoose'
import { cancelledReason, type Import } from './import.model.ts'
import type { Counts } from './import-counters.ts'

/** Events of a job that ran to its end; a dry run has none. */
export function completionEvents(job: Import): Event[] {
  const { _id, kind, undoes, counts } = job
  if (kind === 'import') return [eventOf(job, 'audience.import_completed', _id, outcomesOf(job, counts))]
  if (kind === 'dry-run' || !undoes) return []
  const undone = { undoJobId: String(_id), removed: counts.removed, restored: counts.updated, kept: counts.skipped }
  return [eventOf(job, 'audience.import_undone', undoes, undone)]
}

/** Events of a job that ended early, with what it had done by then; only imports have any. */
export function failureEvents(job: Import, reason: string, counts: Counts): Event[] {
  if (job.kind !== 'import') return []
  const outcomes = outcomesOf(job, counts)
  return reason === cancelledReason
    ? [eventOf(job, 'audience.import_cancelled', job._id, outcomes)]
    : [eventOf(job, 'audience.import_failed', job._id, { reason, ...outcomes })]
}

function outcomesOf({ total }: Import, { created, updated, unchanged, skipped, failed }: Counts) {
  return { total, created, updated, unchanged, skipped, failed }
}

function eventOf({ organization }: Import, type: string, subject: Types.ObjectId, data: object): Event {
  return {
    id: randomUUID(),
    type,
    source: 'import',
    subject: String(subject),
    organization: String(organization),
    time: new Date().toISOString(),
    data: { jobId: String(subject), ...data },
  }
}
