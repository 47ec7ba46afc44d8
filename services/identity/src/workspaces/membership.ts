import { AppError, emailKeyOf } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import type { Role } from '../roles/role.model.ts'
import type { User } from '../users/user.model.ts'
import { type Member, presentMember } from './member.model.ts'
import { countMembers, refuseOverbooking } from './seats.ts'
import type { Workspace } from './workspace.model.ts'

/**
 * Adds a user to a workspace, within a transaction. Writes to the account and the role, so that concurrent changes of
 * either conflict.
 * @throws {AppError} record.duplicate if the user is already a member, workspace.seats_taken if no seat is free
 */
export async function join(
  context: Context,
  { workspace, user, role, doer }: { workspace: Workspace; user: User; role: Role; doer: Caller },
  tx: ClientSession,
): Promise<Member> {
  const tenant = context.collections.of(workspace.organization)
  const { _id: id, name: workspaceName, image: workspaceImage, organization } = workspace
  if (await tenant.members.findOne({ workspace: id, user: user._id }, { tx }))
    throw new AppError('record.duplicate', { path: 'email' })
  await tenant.users.updateOne({ _id: user._id }, { $set: {} }, { tx })
  await carryRole(tenant, role._id, 1, tx)
  const member = await tenant.members.insertOne(
    { workspace: id, workspaceName, workspaceImage, user: user._id, role: role.name, roleId: role._id },
    { tx },
  )
  await countMembers(tenant, id, 1, tx)
  await refuseOverbooking(tenant, id, tx)
  const data = { member: presentMember(member), workspaceId: String(id) }
  await publish(context, doer, 'member.added', { organization, subject: member._id, data }, tx)
  return member
}

/** Subtracts memberships from the counts of their roles, with one command per role. */
export async function leaveRoles(tenant: Tenant, memberships: readonly Member[], tx: ClientSession): Promise<void> {
  for (const [, carriers] of Map.groupBy(memberships, ({ roleId }) => String(roleId)))
    await carryRole(tenant, carriers[0]!.roleId, -carriers.length, tx)
}

/** Adds to the membership count of a role; a role with memberships cannot be deleted. */
export async function carryRole(
  { roles }: Tenant,
  roleId: Types.ObjectId,
  change: number,
  tx: ClientSession,
): Promise<void> {
  await roles.updateOne({ _id: roleId }, { $inc: { membershipCount: change } }, { tx })
}

/**
 * Rejects removing the last owner of a workspace. Call it after `lockMembers` or `countMembers`.
 * @throws {AppError} workspace.last_owner
 */
export async function keepWorkspaceOwner({ members }: Tenant, member: Member, tx: ClientSession): Promise<void> {
  const { _id, workspace, role, gone } = member
  if (role !== 'owner' || gone) return
  const others = { workspace, role: 'owner', gone: false, _id: { $ne: _id } }
  if (await members.findOne(others, { tx })) return
  throw new AppError('workspace.last_owner')
}

/** Marks the memberships of a deleted user as gone, within its transaction: they occupy no seat and have no role. */
export async function abandonMemberships(tenant: Tenant, user: Types.ObjectId, tx: ClientSession): Promise<void> {
  const memberships = await tenant.members.find({ user, gone: false }, { tx })
  await tenant.members.updateMany({ user, gone: false }, { $set: { gone: true } }, { tx })
  const left = memberships.map(({ workspace }) => workspace)
  await tenant.workspaces.updateMany({ _id: { $in: left } }, { $inc: { memberCount: -1, revision: 1 } }, { tx })
  await leaveRoles(tenant, memberships, tx)
}

/** Returns the account with an email in the organization. */
export function accountOf({ users }: Tenant, email: string, tx?: ClientSession): Promise<User | null> {
  return users.findOne({ emailKey: emailKeyOf(email) }, { tx })
}
