import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { withdrawAll } from '../workspaces/invitation-outcome.ts'
import { changeUser } from './change-user.ts'
import { keepOrganizationOwner, refuseOneself, refuseSuperior } from './protections.ts'

/** Blocks an account: ends its sessions, refuses its tokens and sign-ins, and revokes its invitations. Idempotent. */
export function blockUser(context: Context, id: string, caller: Caller): Promise<Updated> {
  const tenant = context.collections.of(caller.organizationId)
  return changeUser(context, id, caller, {
    atOnce: true,
    async decide(user, tx) {
      refuseOneself(user, caller)
      await refuseSuperior(tenant, user, caller, tx)
      if (user.blocked) return { set: {} }
      await keepOrganizationOwner(tenant, user, tx)
      await endSessionsOf(context, user._id, caller, tx)
      await withdrawAll(context, { sender: user._id }, caller, tx)
      const set = { blocked: true, blockedAt: new Date() }
      return { set, event: { type: 'user.blocked', data: { userId: id } } }
    },
  })
}

/** Unblocks an account: its tokens work again. The user must sign in again. */
export function unblockUser(context: Context, id: string, caller: Caller): Promise<Updated> {
  const tenant = context.collections.of(caller.organizationId)
  return changeUser(context, id, caller, {
    atOnce: true,
    async decide(user, tx) {
      await refuseSuperior(tenant, user, caller, tx)
      return { set: { blocked: false, blockedAt: null }, event: { type: 'user.unblocked', data: { userId: id } } }
    },
  })
}
