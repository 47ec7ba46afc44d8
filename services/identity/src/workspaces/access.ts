import { type Action, AppError, actions, allows, type Permissions } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { authorityOf } from '../roles/authority.ts'
import { isPrivileged } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import { permissionsOfRole, type Role } from '../roles/role.model.ts'
import type { Workspace } from './workspace.model.ts'

/** A workspace and what the caller may do in it. */
export type WorkspaceAccess = {
  workspace: Workspace
  /** The caller's permissions in it, as pairs of the resource `workspaces`. */
  held: string[]
  /** Whether the caller may appoint owners: as owner of the workspace, or as owner or admin of the organization. */
  isOwner: boolean
}

/**
 * Requires permission for an action in a workspace. It comes from the role of the user, or of a token's creator, in the
 * workspace; owners and admins of the organization have all permissions.
 * @throws {AppError} workspace.not_found if the caller has no access to it, access.permission_denied if the role does
 * not allow the action
 */
export async function requireAccess(
  tenant: Tenant,
  id: string,
  caller: Caller,
  action: Action,
  tx?: ClientSession,
): Promise<WorkspaceAccess> {
  const access = await findAccess(tenant, id, caller, tx)
  if (!access.held.includes(`workspaces.${action}`))
    throw new AppError('access.permission_denied', { permission: `workspaces.${action}` })
  return access
}

/** Like `requireAccess`, without requiring a permission. */
export async function findAccess(
  tenant: Tenant,
  id: string,
  caller: Caller,
  tx?: ClientSession,
): Promise<WorkspaceAccess> {
  const workspace = await tenant.workspaces.findOne({ _id: id }, { tx })
  const authority = workspace && (await authorityIn(tenant, workspace, caller, tx))
  if (!workspace || !authority) throw new AppError('workspace.not_found')
  const held = inWorkspace(authority.permissions).filter(pair => caller.scope?.includes(pair) ?? true)
  return { workspace, held, isOwner: authority.isOwner }
}

/**
 * Returns a role that the caller may assign.
 * @throws {AppError} role.unknown, role.exceeds_permissions, role.above_rank
 */
export async function roleToGive(
  roles: Scope<Role>,
  name: string,
  { held, isOwner }: WorkspaceAccess,
  tx: ClientSession,
): Promise<Role> {
  const role = await roles.findOne({ name, kind: { $in: ['user', 'both'] } }, { tx })
  if (!role) throw new AppError('role.unknown', { name })
  refuseExcess(inWorkspace(permissionsOfRole(role)), held)
  if (role.name === 'owner' && !isOwner) throw new AppError('role.above_rank', { role: role.name })
  return role
}

/** Returns the permissions that apply in a workspace. */
export function inWorkspace(permissions: Permissions): string[] {
  return actions.filter(action => allows(permissions, 'workspaces', action)).map(action => `workspaces.${action}`)
}

async function authorityIn(
  tenant: Tenant,
  { _id: workspace }: Workspace,
  caller: Caller,
  tx?: ClientSession,
): Promise<{ permissions: Permissions; isOwner: boolean } | undefined> {
  if (isPrivileged(await organizationRoleOf(tenant, caller, tx))) return { permissions: '*', isOwner: true }
  const { members, roles } = tenant
  const { userId } = caller
  const member = userId === null ? null : await members.findOne({ workspace, user: userId, gone: false }, { tx })
  const authority = member && (await authorityOf(roles, member, tx))
  return authority ? { permissions: authority.permissions, isOwner: authority.role === 'owner' } : undefined
}

/**
 * Returns the organization role of the user or of a token's creator. A token's own role does not apply in workspaces.
 */
async function organizationRoleOf({ users }: Tenant, caller: Caller, tx?: ClientSession): Promise<string> {
  if (caller.kind !== 'token') return caller.role
  const creator = await users.findOne({ _id: caller.userId }, { tx })
  return creator?.role ?? ''
}
