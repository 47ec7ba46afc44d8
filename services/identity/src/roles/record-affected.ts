import { actorOf, type Caller } from '@rollcall/rpc'
import type { ClientSession, Types } from 'mongoose'
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
  const note = (type: string, user: Types.ObjectId, of: object = {}) => ({
    user,
    type,
    at: new Date(),
    actor: actorOf(caller),
    data: { role: role.name, by: change.type, gained: excessOf(after, before), lost: excessOf(before, after), ...of },
  })
  const people = await users.find({ role: role.name }, { tx })
  const memberships = await members.find({ roleId: role._id, gone: false }, { tx })
  const carriers = await tokens.find({ roleId: role._id }, { tx })
  const entries = [
    ...people.map(({ _id }) => note('user.permissions_changed', _id)),
    ...memberships.map(({ user, workspace, workspaceName: name }) =>
      note('user.permissions_changed', user, { workspace: { id: String(workspace), name } }),
    ),
    ...carriers.map(({ _id, name, creator }) =>
      note('token.permissions_changed', creator, { token: { id: String(_id), name } }),
    ),
  ]
  await activities.insertMany(entries, { tx })
}
