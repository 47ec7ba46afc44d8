import { defineJob, type LeaseJob } from '@rollcall/jobs'
import type { Data } from '../context.ts'
import { listQueue } from './list-counts.ts'
import type { ListJob } from './list-job.model.ts'
import { endMemberships } from './members.ts'
import { memberPositions } from './membership.model.ts'

const DROP_SIZE = 1000
const BACKOFF = { baseMs: 50, maxMs: 10_000 }

/**
 * Drops the members of deleted lists. Each deletion is a record that one replica at a time works on:
 *
 * 1. End the memberships of the list, batch by batch, each in a transaction under the lease.
 * 2. With the last one, delete the positions and the growth of the list, and the record.
 *
 * A batch that is repeated after a crash finds the memberships that are left.
 */
export function dropMembersJob({ store, collections, logger }: Data): LeaseJob<ListJob> {
  return defineJob<ListJob>({
    name: 'list-members',
    lease: { store },
    backoff: BACKOFF,
    unfinished: () => collections.unscoped.listJobs.find({ kind: 'drop' }).lean<ListJob[]>().exec(),
    load: ({ _id, organization }) => collections.of(organization).listJobs.findOne({ _id }),
    since: ({ updatedAt }) => updatedAt,
    async run({ _id, organization, list, actor }, { fence }) {
      const { memberships, growth, listJobs } = collections.of(organization)
      const data = { store, collections, logger }
      const isDone = await store.transaction(
        async tx => {
          await fence(tx)
          const ended = await memberships.find({ list: list._id }, { tx, limit: DROP_SIZE })
          await endMemberships(data, tx, ended, { list, actor, at: new Date() })
          if (ended.length === DROP_SIZE) return false
          await memberPositions(data, organization, list._id).drop(tx)
          await growth.deleteMany({ list: list._id }, { tx })
          await listJobs.deleteOne({ _id }, { tx })
          return true
        },
        { queue: listQueue(list._id) },
      )
      return isDone ? 'done' : 'again'
    },
  })
}
