import { AppError } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call, Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { notifySecondFactor } from '../second-factor/notify.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { changeUser } from './change-user.ts'
import { refuseOneself, refuseSuperior } from './protections.ts'
import type { User } from './user.model.ts'

/**
 * Turns the second factor of an account off, ends its sessions, and tells the person by mail.
 * @throws {AppError} account.own, account.higher_rank, role.exceeds_permissions, second_factor.off
 */
export async function resetUserTotp(context: Context, id: string, call: Call): Promise<Updated> {
  const { caller } = call
  const tenant = context.collections.of(caller.organizationId)
  const user = await tenant.users.get(id, 'user')
  await turnTotpOff(context, id, caller, async (current, tx) => {
    refuseOneself(current, caller)
    await refuseSuperior(tenant, current, caller, tx)
  })
  notifySecondFactor(context, user, 'reset', call)
  return { success: true, message: 'second factor turned off' }
}

/** Turns the second factor of an account off and ends its sessions. @throws {AppError} second_factor.off */
export async function turnTotpOff(
  context: Context,
  id: string,
  caller: Caller,
  check: (current: User, tx: ClientSession) => Promise<void> = async () => {},
): Promise<void> {
  await changeUser(context, id, caller, {
    atOnce: true,
    async decide(current, tx) {
      await check(current, tx)
      if (!hasSecondFactor(current)) throw new AppError('second_factor.off')
      await endSessionsOf(context, current._id, caller, tx)
      return { set: { totp: null }, event: { type: 'user.second_factor_reset', data: { userId: id } } }
    },
  })
}
