import { type BulkJob, type BulkJobStarted, type ContactsChange, NotFoundError } from '@rollcall/sdk'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { useQuery } from '@tanstack/react-query'
import { rollcall } from '../api.ts'
import { pollWhile } from '../kit/polling.ts'
import { isUnfinished } from './job-state.ts'
import type { Selection } from './selection.ts'

const POLL_MS = 700

/** Starts a job: a change of contacts, or their deletion. */
export function startBulk(
  selection: Selection,
  change: ContactsChange | undefined,
  dryRun: boolean,
): Promise<BulkJobStarted> {
  return change
    ? rollcall.bulk.changeContacts({ ...selection, change, dryRun })
    : rollcall.bulk.deleteContacts({ ...selection, dryRun })
}

/** Returns a job, read again until it is finished. */
export function useBulkJob(id: string | undefined) {
  return useQuery({
    queryKey: ['bulk', id],
    queryFn: async ({ signal }): Promise<BulkJob> => {
      const { docs } = await rollcall.bulk.listJobs({ filter: { _id: id! }, limit: 1 }, { signal })
      if (!docs[0]) throw new NotFoundError(errorTexts['bulk_job.not_found'], { status: 404 })
      return docs[0]
    },
    enabled: id !== undefined,
    refetchInterval: pollWhile(isUnfinished, POLL_MS),
  })
}
