import { json } from '@rollcall/contract'
import type { Caller, Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { confirmTotp, removeTotp, renewRecoveryCodes, startTotp } from '../second-factor/set-up.ts'
import { changeUser } from '../users/change-user.ts'
import { profileOf } from '../users/profile.ts'
import { listUserDevices, listUserSessions, revokeUserDevice, revokeUserSession } from '../users/user-sessions.ts'
import { changeEmail } from './change-email.ts'
import { changePassword } from './change-password.ts'
import { describeCaller } from './describe-caller.ts'
import { revokeOtherSessions } from './own-sessions.ts'

/** Handlers for the caller's own account. Their routes admit sessions only, except to read it. */
export const account = (context: Context): Handlers<'rollcall.identity.v1.Account'> => ({
  getAccount: async (_request, { caller }) => json((await describeCaller(context, caller)).me),

  updateAccount: (request, { caller }) =>
    changeUser(context, idOf(caller), caller, {
      // Cached credentials contain the user's name.
      atOnce: request.name !== undefined,
      decide: user => ({ set: profileOf(request, user) }),
    }),

  async changePassword(request, call) {
    await changePassword(context, request, call)
    return { success: true, message: 'password changed' }
  },

  async changeEmail(request, call) {
    await changeEmail(context, request, call)
    return { success: true, message: 'sent a link to the new address' }
  },

  startTotp: async (_request, { caller }) => json(await startTotp(context, caller)),

  confirmTotp: async (request, call) => json({ recoveryCodes: await confirmTotp(context, request, call) }),

  removeTotp: (request, call) => removeTotp(context, request, call),

  renewRecoveryCodes: async (request, call) =>
    json({ recoveryCodes: await renewRecoveryCodes(context, request, call) }),

  listOwnSessions: (request, { caller }) => listUserSessions(context, { ...request, id: idOf(caller) }, caller),

  revokeOwnSession: ({ sessionRef }, { caller }) =>
    revokeUserSession(context, { id: idOf(caller), sessionRef }, caller),

  revokeOtherSessions: (_request, { caller }) => revokeOtherSessions(context, caller),

  listOwnDevices: (request, { caller }) => listUserDevices(context, { ...request, id: idOf(caller) }, caller),

  revokeOwnDevice: ({ deviceId }, { caller }) => revokeUserDevice(context, { id: idOf(caller), deviceId }, caller),
})

/** Returns the id of the caller's account. A session always has one. */
function idOf({ userId }: Caller): string {
  return userId!
}
