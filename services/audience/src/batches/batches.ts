import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { applyBatch } from './apply-batch.ts'
import { dryRunBatch } from './dry-run.ts'
import { undoBatch } from './undo-batch.ts'

/** The handlers that the import service calls. */
export function batches(context: Context): Handlers<'rollcall.audience.v1.Batches'> {
  return {
    applyBatch: (request, call) => (request.dryRun ? dryRunBatch : applyBatch)(context, request, call),

    undoBatch: (request, call) => undoBatch(context, request, call),

    checkLists: async ({ listIds }, { caller }) => {
      const found = await context.collections.of(caller.organizationId).lists.find({ _id: { $in: listIds } })
      const known = new Set(found.map(({ _id }) => String(_id)))
      return {
        unknown: listIds.filter(id => !known.has(id.toLowerCase())),
        archived: found.filter(({ archived }) => archived).map(({ _id }) => String(_id)),
      }
    },
  }
}
