import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { type FieldTable, runList } from '@rollcall/store'
import type { Context } from '../context.ts'

const activityFields: FieldTable = {
  type: 'string',
  at: 'date',
  actor: 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
  data: 'object',
}

/** What a user did, themselves or by their tokens, and who acted as them: newest first. */
export async function listActivities({ within }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, activities } = within(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  return runList({
    scope: activities,
    base: { user },
    query: list ?? {},
    fields: activityFields,
    defaultSort: { at: -1, _id: -1 },
  })
}
