import type { BulkResultJson } from '@rollcall/protos/gen/audience-v1.ts'
import { event, type OutgoingEvent } from '@rollcall/store'
import type { BulkJob } from './bulk-job.model.ts'

/** Returns the event of a job that was started. */
export function startedEvent(job: BulkJob): OutgoingEvent {
  const { _id: jobId, kind, dryRun, undoes, createdBy: actor } = job
  return event('audience.bulk_started', job, { jobId, kind, dryRun, ...(undoes && { undoes }), actor })
}

/** Returns the event of a job that is complete. */
export function completedEvent(job: BulkJob, { matched, changed, unchanged, failed }: BulkResultJson): OutgoingEvent {
  const { _id: jobId, kind, dryRun, createdBy: actor } = job
  return event('audience.bulk_completed', job, { jobId, kind, dryRun, matched, changed, unchanged, failed, actor })
}
