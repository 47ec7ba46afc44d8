import type { Handlers } from '@rollcall/rpc'
import { type Filter, objectId } from '@rollcall/store'
import type { Context } from '../context.ts'
import { UNFINISHED } from './campaign-states.ts'

/** Handlers that find what campaigns still need. */
export const uses = (context: Context): Handlers<'rollcall.campaigns.v1.Uses'> => ({
  async findUse({ listId, segmentId }, { caller }) {
    const { campaigns } = context.collections.of(caller.organizationId)
    const users: Filter[] = [
      ...(listId ? [{ lists: objectId(listId) }, { excludeLists: objectId(listId) }] : []),
      ...(segmentId ? [{ segments: objectId(segmentId) }] : []),
    ]
    if (users.length === 0) return {}
    const found = await campaigns.findOne({ status: { $in: UNFINISHED }, $or: users }, { projection: { name: 1 } })
    return found ? { campaignName: found.name } : {}
  },
})
