import { AppError } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { notifySecondFactor } from '../second-factor/notify.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { changeUser } from './change-user.ts'
import { refuseOneself, refuseSuperior } from './protections.ts'

/**
 * Turns the second factor of an account off, ends its sessions, and tells the person by mail.
 * @throws {AppError} account.own, account.higher_rank, role.exceeds_permissions, second_factor.off
 */
export async function resetUserTotp(context: Context, id: string, call: Call): Promise<Updated> {
  const { caller } = call
  const tenant = context.collections.of(caller.organizationId)
  const user = await tenant.users.get(id, 'user')
  await changeUser(context, id, caller, {
    atOnce: true,
    async decide(current, tx) {
      refuseOneself(current, caller)
      await refuseSuperior(tenant, current, caller, tx)
      if (!hasSecondFactor(current)) throw new AppError('second_factor.off')
      await endSessionsOf(context, current._id, caller, tx)
      return { set: { totp: null }, event: { type: 'user.second_factor_reset', data: { userId: id } } }
    },
  })
  notifySecondFactor(context, user, 'reset', call)
  return { success: true, message: 'second factor turned off' }
}
