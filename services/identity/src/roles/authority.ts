import type { Permissions } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { builtInRole, isPrivileged, lesserOf } from './built-in.ts'
import { permissionsOfRole, type Role } from './role.model.ts'

/** A role and its current permissions. */
export type Authority = { role: string; permissions: Permissions }

/** A user, member or token with a role. */
export type Carrier = { role: string; roleId: Types.ObjectId }

/** Returns the role and permissions of a carrier; undefined if the role was deleted. */
export async function authorityOf(
  roles: Scope<Role>,
  { role, roleId }: Carrier,
  tx?: ClientSession,
): Promise<Authority | undefined> {
  const builtIn = builtInRole(role)
  if (builtIn) return { role, permissions: builtIn.permissions }
  const found = await roles.findOne({ _id: roleId }, tx ? { tx } : { readConcern: 'majority' })
  return found ? { role: found.name, permissions: permissionsOfRole(found) } : undefined
}

/**
 * Returns the role and permissions of a token. A custom role applies as it is. Otherwise the token has its creator's
 * current role, but never more than the role it was created with.
 */
export async function tokenAuthorityOf(
  roles: Scope<Role>,
  token: { role: string | null; roleId: Types.ObjectId | null },
  creator: Carrier,
  tx?: ClientSession,
): Promise<Authority | undefined> {
  if (token.role === null || token.roleId === null) return authorityOf(roles, creator, tx)
  if (!isPrivileged(token.role)) return authorityOf(roles, { role: token.role, roleId: token.roleId }, tx)
  if (!isPrivileged(creator.role)) return authorityOf(roles, creator, tx)
  return { role: lesserOf(token.role, creator.role), permissions: '*' }
}
