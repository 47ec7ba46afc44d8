import type { ChangeRoleRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { isPrivileged } from '../roles/built-in.ts'
import { endImpersonations } from '../sessions/end-sessions.ts'
import { withdrawAll } from '../workspaces/invitation-outcome.ts'
import { changeUser } from './change-user.ts'
import { leaveRole, roleQueue, takeRole } from './member-role.ts'
import { keepOrganizationOwner, refuseSuperior } from './protections.ts'

/**
 * Changes a user's role. It applies to sessions and tokens from the next request on. A former owner or admin loses
 * access to the workspaces of others; the user's invitations to these are revoked.
 */
export function changeRole(context: Context, { id, role }: ChangeRoleRequest, caller: Caller): Promise<Updated> {
  const tenant = context.collections.of(caller.organizationId)
  return changeUser(context, id, caller, {
    atOnce: true,
    ...roleQueue(caller.organizationId),
    async decide(user, tx) {
      await refuseSuperior(tenant, user, caller, tx)
      const carried = await takeRole(tenant.roles, role, caller, tx)
      await leaveRole(tenant.roles, user, tx)
      if (role === user.role) return { set: {} }
      await keepOrganizationOwner(tenant, user, tx)
      await endImpersonations(context, user._id, caller, tx)
      if (isPrivileged(user.role) && !isPrivileged(role)) await withdrawElsewhere(context, user._id, caller, tx)
      return { set: carried, event: { type: 'user.role_changed', data: { userId: id, from: user.role, to: role } } }
    },
  })
}

/** Revokes a sender's pending invitations to workspaces that the sender is not a member of. */
async function withdrawElsewhere(
  context: Context,
  sender: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { members } = context.collections.of(caller.organizationId)
  const memberships = await members.find({ user: sender, gone: false }, { tx })
  const workspace = { $nin: memberships.map(({ workspace }) => workspace) }
  await withdrawAll(context, { sender, workspace }, caller, tx)
}
