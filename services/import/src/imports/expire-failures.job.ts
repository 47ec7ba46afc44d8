import { defineJob, type Job } from '@rollcall/jobs'
import type { Context } from '../context.ts'
import type { Import } from './import.model.ts'

/** How long failed rows, and rows of dry runs, are kept after the end of their import. */
const KEPT_MS = 30 * 24 * 3_600_000
const POLL_MS = 3_600_000
const SLICE = 100

type Ended = Pick<Import, '_id' | 'organization'>

/**
 * Deletes the failed rows of imports that ended 30 days ago, and what the imports show of them and of a dry run. One
 * replica does it for all organizations:
 *
 * 1. Find the next such imports.
 * 2. Delete their failed rows, then blank and mark the records: one that is interrupted is found again. A cancelled import
 * can have failed rows that its record does not show.
 */
export function expireFailuresJob({ store, collections }: Context): Job {
  const due = () =>
    collections.unscoped.imports
      .find({
        finishedAt: { $lte: new Date(Date.now() - KEPT_MS) },
        failuresExpired: { $ne: true },
      })
      .select({ organization: 1 })
      .limit(SLICE)
      .lean<Ended[]>()
  return defineJob<{ _id: string }>({
    name: 'expire-failures',
    lease: { store },
    pollMs: POLL_MS,
    unfinished: async () => ((await due()).length > 0 ? [{ _id: 'failed rows' }] : []),
    load: async item => item,
    since: () => new Date(),
    async run() {
      const ended = await due()
      for (const { _id, organization } of ended) {
        const { failedRows, imports } = collections.of(organization)
        await failedRows.deleteMany({ job: _id })
        await imports.updateOne(
          { _id },
          { $set: { errors: [], preview: [], failuresExpired: true } },
          { timestamps: false },
        )
      }
      return ended.length === SLICE ? 'again' : 'done'
    },
  })
}
