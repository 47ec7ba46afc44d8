import { defineJob, type Job } from '@rollcall/jobs'
import type { Data } from '../context.ts'
import type { Batch } from './batch.model.ts'

/** How long a batch keeps the rows that it could not apply: longer than the importer may send it again. */
const KEPT_MS = 30 * 24 * 3_600_000
const POLL_MS = 3_600_000
const SLICE = 500

type Old = Pick<Batch, '_id' | 'organization'>

/** Drops the failures of batches after 30 days: they hold values of rows. One replica does it for all organizations. */
export function expireFailuresJob({ store, collections }: Data): Job {
  const due = () =>
    collections.unscoped.batches
      .find({ at: { $lte: new Date(Date.now() - KEPT_MS) }, 'failures.0': { $exists: true } })
      .select({ organization: 1 })
      .limit(SLICE)
      .lean<Old[]>()
  return defineJob<{ _id: string }>({
    name: 'expire-failures',
    lease: { store },
    pollMs: POLL_MS,
    unfinished: async () => ((await due()).length > 0 ? [{ _id: 'failures of batches' }] : []),
    load: async item => item,
    since: () => new Date(),
    async run() {
      const old = await due()
      for (const { _id, organization } of old)
        await collections.of(organization).batches.updateOne({ _id }, { $set: { failures: [] } })
      return old.length === SLICE ? 'again' : 'done'
    },
  })
}
