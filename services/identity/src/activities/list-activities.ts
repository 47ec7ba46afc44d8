import { activityFields } from '@rollcall/protos/gen/identity-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { runList } from '@rollcall/store'
import type { Context } from '../context.ts'

/** Lists the audit trail of a user, newest first. */
export async function listActivities({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, activities } = collections.of(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  return runList({
    scope: activities,
    base: { user },
    query: list ?? {},
    fields: activityFields,
    defaultSort: { at: -1, _id: -1 },
  })
}
