import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { authorityOf } from '../roles/authority.ts'
import { outranks } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import type { User } from './user.model.ts'

/** Rejects actions on one's own account. @throws {AppError} account.own */
export function refuseOneself(user: User, caller: Caller): void {
  if (String(user._id) === caller.userId) throw new AppError('account.own')
}

/** Rejects changes of an account with a higher rank than the caller's. @throws {AppError} account.higher_rank */
export function refuseHigherRank({ role }: Pick<User, 'role'>, caller: Caller): void {
  if (outranks(role, caller.role)) throw new AppError('account.higher_rank', { role })
}

/**
 * Rejects actions on a user with a higher rank, or with permissions that the caller lacks.
 * @throws {AppError} account.higher_rank, role.exceeds_permissions
 */
export async function refuseSuperior({ roles }: Tenant, user: User, caller: Caller, tx: ClientSession): Promise<void> {
  refuseHigherRank(user, caller)
  const authority = await authorityOf(roles, user, tx)
  if (authority) refuseExcess(authority.permissions, caller.permissions)
}

/**
 * Rejects removing the last owner who can sign in. Writes to the owner role, so that concurrent changes conflict and
 * the later one is retried.
 * @throws {AppError} organization.last_owner
 */
export async function keepOrganizationOwner({ users, roles }: Tenant, user: User, tx: ClientSession): Promise<void> {
  if (user.role !== 'owner' || user.blocked) return
  await roles.updateOne({ _id: user.roleId }, { $inc: { memberCount: 0 } }, { tx })
  const others = { role: 'owner', blocked: false, _id: { $ne: user._id } }
  if (await users.findOne(others, { tx })) return
  throw new AppError('organization.last_owner')
}
