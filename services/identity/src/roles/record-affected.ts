import { actorOf, type Caller } from '@rollcall/rpc'
import { insertOf } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Activity } from '../activities/activity.model.ts'
import type { Context } from '../context.ts'
import { excessOf, type Grants, permissionsOf } from './permissions.ts'
import type { Role } from './role.model.ts'

/** Permissions of a role before and after a change. */
type RoleChange = { type: 'role.saved' | 'role.deleted'; before: Grants; after: Grants }

/**
 * Records changed permissions of a role in the audit trail of everyone affected, within the transaction of the change.
 * Writes one entry per user, workspace member and token with the role; a token's entry goes to its creator's trail.
 */
export async function recordAffected(
  { collections }: Context,
  role: Role,
  change: RoleChange,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { users, members, tokens, activities } = collections.of(role.organization)
  const [before, after] = [permissionsOf(change.before), permissionsOf(change.after)]
  const [at, actor] = [new Date(), actorOf(caller)]
  const effect = { role: role.name, by: change.type, gained: excessOf(after, before), lost: excessOf(before, after) }
  const note = (type: string, user: Types.ObjectId, of: object = {}): Omit<Activity, 'organization'> => ({
    _id: new Types.ObjectId(),
    user,
    type,
    at,
    actor,
    data: { ...effect, ...of },
  })
  const named = { workspace: 1, workspaceName: 1, user: 1 } as const
  const people = await users.find({ role: role.name }, { tx, projection: { _id: 1 } })
  const memberships = await members.find({ roleId: role._id, gone: false }, { tx, projection: named })
  const carriers = await tokens.find({ roleId: role._id }, { tx, projection: { name: 1, creator: 1 } })
  const entries = [
    ...people.map(({ _id }) => note('user.permissions_changed', _id)),
    ...memberships.map(({ user, workspace, workspaceName: name }) =>
      note('user.permissions_changed', user, { workspace: { id: String(workspace), name } }),
    ),
    ...carriers.map(({ _id, name, creator }) =>
      note('token.permissions_changed', creator, { token: { id: String(_id), name } }),
    ),
  ]
  await activities.bulkWrite(entries.map(insertOf), { tx }) // up to 10,000 within the time of a role's change
}
