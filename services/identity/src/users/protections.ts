import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { authorityOf } from '../roles/authority.ts'
import { outranks } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import type { User } from './user.model.ts'

/** Refuses what nobody may do to their own account. @throws {AppError} conflict */
export function refuseOneself(user: User, caller: Caller): void {
  if (String(user._id) === caller.userId) throw new AppError('account.own')
}

/** Refuses to change an account of a higher rank than the caller's. @throws {AppError} forbidden */
export function refuseHigherRank({ role }: Pick<User, 'role'>, caller: Caller): void {
  if (outranks(role, caller.role)) throw new AppError('account.higher_rank', { role })
}

/**
 * Refuses to act on someone of a higher rank, or whose role allows what the caller's does not.
 * @throws {AppError} forbidden
 */
export async function refuseSuperior({ roles }: Tenant, user: User, caller: Caller, tx: ClientSession): Promise<void> {
  refuseHigherRank(user, caller)
  const authority = await authorityOf(roles, user, tx)
  if (authority) refuseExcess(authority.permissions, caller.permissions)
}

/**
 * Refuses to take an organization the last owner who can sign in. Writing to the owners' role puts such changes in order:
 * of two at once, the later one begins again and sees what the first has left. @throws {AppError} conflict
 */
export async function keepOrganizationOwner({ users, roles }: Tenant, user: User, tx: ClientSession): Promise<void> {
  if (user.role !== 'owner' || user.blocked) return
  await roles.updateOne({ _id: user.roleId }, { $inc: { memberCount: 0 } }, { tx })
  const others = { role: 'owner', blocked: false, _id: { $ne: user._id } }
  if (await users.findOne(others, { tx })) return
  throw new AppError('organization.last_owner')
}
