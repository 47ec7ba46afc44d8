import { AppError, emailKeyOf, type HttpBody, json, updated } from '@rollcall/contract'
import type { AddMemberRequest, MemberRequest, UpdateMemberRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import { objectId, personReference, reference, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { authorityOf } from '../roles/authority.ts'
import { refuseExcess } from '../roles/permissions.ts'
import type { User } from '../users/user.model.ts'
import { inWorkspace, requireAccess, roleToGive, type WorkspaceAccess } from './access.ts'
import { withdraw, withdrawAll } from './invitation-outcome.ts'
import { type Member, memberFields, presentMember, showUser } from './member.model.ts'
import { accountOf, carryRole, join, keepWorkspaceOwner } from './membership.ts'
import { countMembers, lockMembers, queuesOf } from './seats.ts'

/** Handlers for members of workspaces. */
export const members = (context: Context): Handlers<'rollcall.identity.v1.Members'> => ({
  async listWorkspaceMembers({ id, list }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    const { workspace } = await requireAccess(tenant, id, caller, 'read')
    return runList({
      scope: tenant.members,
      base: { workspace: workspace._id },
      stages: [showUser],
      query: list ?? {},
      fields: memberFields,
      populate: { user: personReference(caller, reference(tenant.users, presentPerson)) },
    })
  },

  addMember: (request, { caller }) =>
    context.store.transaction(tx => addWithin(context, request, caller, tx), queuesIn(request, caller)),

  updateMember: async (request, { caller }): Promise<Updated> => {
    await context.store.transaction(tx => updateWithin(context, request, caller, tx), queuesIn(request, caller))
    return updated()
  },

  removeMember: (request, { caller }) =>
    context.store.transaction(tx => removeWithin(context, request, caller, tx), queuesIn(request, caller)),
})

function queuesIn({ id }: { id: string }, { organizationId }: Caller) {
  return queuesOf(id, organizationId)
}

async function addWithin(
  context: Context,
  { id, email, role: name }: AddMemberRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const access = await requireAccess(tenant, id, caller, 'create', tx)
  const role = await roleToGive(tenant.roles, name, access, tx)
  const user = await accountOf(tenant, email, tx)
  if (!user) throw new AppError('member.no_account')
  const { workspace } = access
  await withdraw(context, { workspace: workspace._id, emailKey: emailKeyOf(email), status: 'pending' }, caller, tx)
  return json(presentMember(await join(context, { workspace, user, role, doer: caller }, tx)))
}

async function updateWithin(
  context: Context,
  { id, userId, role: name }: UpdateMemberRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const tenant = context.collections.of(caller.organizationId)
  const access = await requireAccess(tenant, id, caller, 'update', tx)
  const member = await findMember(tenant, access, userId, tx)
  if (member.gone) throw new AppError('member.account_deleted')
  const role = await roleToGive(tenant.roles, name, access, tx)
  if (role.name === member.role) return
  await lockMembers(tenant, member.workspace, tx)
  await keepWorkspaceOwner(tenant, member, tx)
  await carryRole(tenant, member.roleId, -1, tx)
  await carryRole(tenant, role._id, 1, tx)
  const carried = { role: role.name, roleId: role._id }
  await tenant.members.updateOne({ _id: member._id }, { $set: carried }, { tx })
  if (member.role === 'owner')
    await withdrawAll(context, { workspace: member.workspace, sender: member.user, role: 'owner' }, caller, tx)
  const data = {
    memberId: String(member._id),
    workspaceId: id,
    userId: String(member.user),
    from: member.role,
    to: role.name,
  }
  const { organization, _id: subject } = member
  await publish(context, caller, 'member.role_changed', { organization, subject, data }, tx)
}

async function removeWithin(
  context: Context,
  { id, userId }: MemberRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const access = await requireAccess(tenant, id, caller, 'delete', tx)
  const member = await findMember(tenant, access, userId, tx)
  await countMembers(tenant, member.workspace, member.gone ? 0 : -1, tx)
  await keepWorkspaceOwner(tenant, member, tx)
  await tenant.members.deleteOne({ _id: member._id }, { tx })
  if (!member.gone) {
    await carryRole(tenant, member.roleId, -1, tx)
    await withdrawAll(context, { workspace: member.workspace, sender: member.user }, caller, tx)
  }
  const record = presentMember(member)
  const { organization, _id: subject } = member
  await publish(
    context,
    caller,
    'member.removed',
    { organization, subject, data: { member: record, workspaceId: id } },
    tx,
  )
  return json(record)
}

/** Returns a member by user id or membership id; rejects members with a higher role than the caller's. */
async function findMember(
  { members, roles }: Tenant,
  { workspace, held, isOwner }: WorkspaceAccess,
  id: string,
  tx: ClientSession,
): Promise<Member> {
  const named = objectId(id, 'userId')
  const either = { workspace: workspace._id, $or: [{ user: named, gone: false }, { _id: named }] }
  const member = await members.findOne(either, { tx })
  if (!member) throw new AppError('member.not_found')
  const authority = member.gone ? undefined : await authorityOf(roles, member, tx)
  if (authority) refuseExcess(inWorkspace(authority.permissions), held)
  if (authority?.role === 'owner' && !isOwner) throw new AppError('member.owner_protected')
  return member
}

/** Returns a member's user as shown to callers with users.read. */
function presentPerson({ _id, name, email, image }: User) {
  const id = String(_id)
  return { _id: id, id, name, email, image }
}
