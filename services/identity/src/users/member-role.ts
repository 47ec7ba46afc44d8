import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Carrier } from '../roles/authority.ts'
import { outranks } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import { permissionsOfRole, type Role } from '../roles/role.model.ts'

/** Returns the queue of transactions that change roles or count their carriers: they would conflict in the role. */
export function roleQueue(organizationId: string | Types.ObjectId): { queue: string } {
  return { queue: `roles of ${organizationId}` }
}

/**
 * Assigns a role to one more member. Updating the counter conflicts with concurrent changes of the role.
 * @throws {AppError} role.unknown if no role for members has this name; role.exceeds_permissions; role.above_rank
 */
export async function takeRole(roles: Scope<Role>, name: string, caller: Caller, tx: ClientSession): Promise<Carrier> {
  const forMembers = { name, kind: { $in: ['user', 'both'] } }
  const role = await roles.findOneAndUpdate(forMembers, { $inc: { memberCount: 1 } }, { tx })
  if (!role) throw new AppError('role.unknown', { name })
  refuseExcess(permissionsOfRole(role), caller.permissions)
  if (outranks(role.name, caller.role)) throw new AppError('role.above_rank', { role: role.name })
  return { role: role.name, roleId: role._id }
}

/** Decrements the member count of a role. */
export async function leaveRole(roles: Scope<Role>, { roleId }: Carrier, tx: ClientSession): Promise<void> {
  await roles.updateOne({ _id: roleId }, { $inc: { memberCount: -1 } }, { tx })
}

/** Returns the number of members of an organization. */
export async function memberTotal(roles: Scope<Role>): Promise<number> {
  const [counted] = await roles.aggregate<{ n: number }>([{ $group: { _id: null, n: { $sum: '$memberCount' } } }])
  return counted?.n ?? 0
}
