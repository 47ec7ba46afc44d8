import type { BulkJob, BulkJobStarted, ContactsChange } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { rollcall } from '../api.ts'
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
      if (!docs[0]) throw new Error(id)
      return docs[0]
    },
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && !isUnfinished(data) ? false : POLL_MS),
  })
}
