import { type DueJob, defineJob } from '@rollcall/jobs'
import type { Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Deletion } from './collection.model.ts'

const ENTRIES_PER_SLICE = 1000

/**
 * Deletes the entries of deleted collections:
 *
 * 1. Claim a deletion, which was stored with the deletion of the collection.
 * 2. Delete the oldest entries and their unique values, a slice at a time. Nobody can write new ones.
 * 3. Delete the record of the deletion once no entry is left.
 *
 * Running a slice twice deletes nothing else, so no fence is needed.
 */
export function deletionJob(model: Unscoped<Deletion>, context: () => Context): DueJob {
  return defineJob<Deletion>({
    name: 'delete-entries',
    due: { model },
    concurrency: 2,
    concurrencyPerOrganization: 1,
    async run({ _id, organization }) {
      const { entries, uniqueValues, deletions } = context().collections.of(organization)
      const found = await entries.find({ parent: _id }, { limit: ENTRIES_PER_SLICE, projection: { _id: 1 } })
      await entries.deleteMany({ _id: { $in: found.map(entry => entry._id) } })
      if (found.length > 0) return 'again'
      await uniqueValues.deleteMany({ parent: _id })
      await deletions.deleteOne({ _id })
      return 'done'
    },
  })
}
