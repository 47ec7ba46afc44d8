import type { Permissions } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { builtInRole, isPrivileged, lesserOf } from './built-in.ts'
import { permissionsOfRole, type Role } from './role.model.ts'

/** What someone may do: the role it comes from and the permissions that role has at this moment. */
export type Authority = { role: string; permissions: Permissions }

/** Who carries a role: a person, or a token that was made with one. */
export type Carrier = { role: string; roleId: Types.ObjectId }

/** What a carrier may do; undefined where its role is gone. */
export async function authorityOf(
  roles: Scope<Role>,
  { role, roleId }: Carrier,
  tx?: ClientSession,
): Promise<Authority | undefined> {
  const builtIn = builtInRole(role)
  if (builtIn) return { role, permissions: builtIn.permissions }
  const found = await roles.findOne({ _id: roleId }, { tx })
  return found ? { role: found.name, permissions: permissionsOfRole(found) } : undefined
}

/**
 * What a token may do: a custom role of its own is all it has; without one, or with owner or admin, it acts as its
 * creator does by now, but never above the role it was made with.
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
