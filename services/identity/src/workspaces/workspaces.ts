import { AppError, allows, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateWorkspaceRequest, UpdateWorkspaceRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Caller, type Handlers } from '@rollcall/rpc'
import { changedFields, changesBetween, type Filter, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { switched } from '../features/switches.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { roleQueue } from '../users/member-role.ts'
import { requireAccess } from './access.ts'
import { join, leaveRoles } from './membership.ts'
import { lockMembers, queuesOf, refuseOverbooking } from './seats.ts'
import { presentWorkspace, type Workspace, workspaceFields } from './workspace.model.ts'

const MAX_SEATS = 1_000_000

/** Handlers for workspaces. */
export const workspaces = (context: Context): Handlers<'rollcall.identity.v1.Workspaces'> => ({
  async listWorkspaces({ list }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    const base = allows(caller.permissions, 'workspaces', 'read') ? {} : await ownWorkspaces(tenant, caller)
    return runList({ scope: tenant.workspaces, base, query: list ?? {}, fields: workspaceFields })
  },

  createWorkspace: (request, { caller }) => createWorkspace(context, request, caller),

  async getWorkspace({ id }, { caller }) {
    const { workspace } = await requireAccess(context.collections.of(caller.organizationId), id, caller, 'read')
    return json(presentWorkspace(workspace))
  },

  updateWorkspace: (request, { caller }) => updateWorkspace(context, request, caller),

  deleteWorkspace: ({ id }, { caller }) =>
    context.store.transaction(tx => deleteWithin(context, id, caller, tx), queuesOf(id, caller.organizationId)),
})

async function ownWorkspaces({ members }: Tenant, { userId }: Caller): Promise<Filter> {
  const memberships = userId === null ? [] : await members.find({ user: userId, gone: false })
  return { _id: { $in: memberships.map(({ workspace }) => workspace) } }
}

function createWorkspace(
  context: Context,
  { name, image, seats, features }: CreateWorkspaceRequest,
  caller: Caller,
): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  return context.store.transaction(async tx => {
    const user = await tenant.users.findOne({ _id: caller.userId }, { tx })
    const role = await tenant.roles.findOne({ name: 'owner', builtIn: true }, { tx })
    if (!user || !role) throw new AppError('account.unknown')
    await keepQuota(context, caller.organizationId, 'workspaces', tx)
    const workspace = await tenant.workspaces.insertOne(
      {
        name,
        image: image || null,
        seats: seatsOf(seats) ?? null,
        features: await switched(tenant.features, {}, features, tx),
        createdBy: actorOf(caller),
      },
      { tx },
    )
    const { _id: subject, organization } = workspace
    const data = { workspace: presentWorkspace({ ...workspace, memberCount: 1 }) }
    await publish(context, caller, 'workspace.created', { organization, subject, data }, tx)
    await join(context, { workspace, user, role, doer: caller }, tx)
    const founded = await tenant.workspaces.findOne({ _id: subject }, { tx })
    return json(presentWorkspace(founded!))
  }, roleQueue(caller.organizationId))
}

async function updateWorkspace(context: Context, request: UpdateWorkspaceRequest, caller: Caller): Promise<Updated> {
  await context.store.transaction(tx => updateWithin(context, request, caller, tx))
  return updated()
}

async function updateWithin(
  context: Context,
  request: UpdateWorkspaceRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const tenant = context.collections.of(caller.organizationId)
  const { workspace: before } = await requireAccess(tenant, request.id, caller, 'update', tx)
  const { _id, organization } = before
  const set = await changesOf(tenant, request, before, tx)
  const changed = changedFields(before, set)
  if (changed.length === 0) return
  await tenant.workspaces.updateOne({ _id }, { $set: set }, { tx })
  if (changed.includes('seats')) {
    await lockMembers(tenant, _id, tx)
    await refuseOverbooking(tenant, _id, tx)
  }
  const workspace = { ...before, ...set }
  if (changed.includes('name') || changed.includes('image')) {
    const shown = { workspaceName: workspace.name, workspaceImage: workspace.image }
    await tenant.members.updateMany({ workspace: _id }, { $set: shown }, { tx })
    await lockMembers(tenant, _id, tx)
  }
  const shown = presentWorkspace({ ...workspace, updatedAt: new Date() })
  const data = { workspace: shown, changed, changes: changesBetween(changed, presentWorkspace(before), shown) }
  await publish(context, caller, 'workspace.updated', { organization, subject: _id, data }, tx)
}

async function changesOf(
  { features }: Tenant,
  request: UpdateWorkspaceRequest,
  before: Workspace,
  tx: ClientSession,
): Promise<Partial<Workspace>> {
  const { name, image } = request
  const seats = seatsOf(request.seats)
  return {
    ...(name !== undefined && { name }),
    ...(image !== undefined && { image: image || null }),
    ...(seats !== undefined && { seats }),
    ...(request.features !== undefined && {
      features: await switched(features, before.features, request.features, tx),
    }),
  }
}

async function deleteWithin(context: Context, id: string, caller: Caller, tx: ClientSession): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const { workspace } = await requireAccess(tenant, id, caller, 'delete', tx)
  const { _id: subject, organization } = workspace
  await tenant.workspaces.deleteOne({ _id: subject }, { tx })
  const members = await tenant.members.find({ workspace: subject, gone: false }, { tx })
  await leaveRoles(tenant, members, tx)
  await tenant.members.deleteMany({ workspace: subject }, { tx })
  await tenant.invitations.deleteMany({ workspace: subject }, { tx })
  const record = presentWorkspace(workspace)
  await publish(context, caller, 'workspace.deleted', { organization, subject, data: { workspace: record } }, tx)
  return json(record)
}

/** Parses a number of seats; undefined if absent. @throws {AppError} request.invalid_field */
function seatsOf(seats: unknown): number | null | undefined {
  if (seats === undefined || seats === null) return seats
  if (typeof seats === 'number' && Number.isInteger(seats) && seats >= 1 && seats <= MAX_SEATS) return seats
  const reason = `must be a whole number from 1 to ${MAX_SEATS}, or null`
  throw new AppError('request.invalid_field', { path: 'seats', reason })
}
