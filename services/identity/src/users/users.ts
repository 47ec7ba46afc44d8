import { json } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import { runList } from '@rollcall/store'
import { listActivities } from '../activities/list-activities.ts'
import type { Context } from '../context.ts'
import { blockUser, unblockUser } from './block-user.ts'
import { changeRole } from './change-role.ts'
import { changeUser } from './change-user.ts'
import { createUser } from './create-user.ts'
import { deleteUser } from './delete-user.ts'
import { memberTotal } from './member-role.ts'
import { profileOf } from './profile.ts'
import { refuseHigherRank } from './protections.ts'
import { resetUserTotp } from './reset-totp.ts'
import { presentUser, userFields } from './user.model.ts'
import { listUserDevices, listUserSessions, revokeUserDevice, revokeUserSession } from './user-sessions.ts'
import { getUserFeatures, listUserEmails, listUserWorkspaces, setUserFeatures } from './user-views.ts'

/** Handlers for user accounts. */
export const users = (context: Context): Handlers<'rollcall.identity.v1.Users'> => ({
  async listUsers({ list }, { caller }) {
    const { users, roles } = context.collections.of(caller.organizationId)
    return runList({ scope: users, query: list ?? {}, fields: userFields, total: () => memberTotal(roles) })
  },

  getUser: async ({ id }, { caller }) =>
    json(presentUser(await context.collections.of(caller.organizationId).users.get(id, 'user'))),

  createUser: (request, { caller }) => createUser(context, request, caller),

  updateUser: ({ id, ...request }, { caller }) =>
    changeUser(context, id, caller, {
      // Cached credentials contain the user's name.
      atOnce: request.name !== undefined,
      decide: user => {
        refuseHigherRank(user, caller)
        return { set: profileOf(request, user) }
      },
    }),

  replaceUserTags: ({ id, tags }, { caller }) =>
    changeUser(context, id, caller, {
      atOnce: false,
      decide: user => {
        refuseHigherRank(user, caller)
        return { set: { tags: [...new Set(tags)] } }
      },
    }),

  blockUser: ({ id }, { caller }) => blockUser(context, id, caller),

  unblockUser: ({ id }, { caller }) => unblockUser(context, id, caller),

  resetUserTotp: ({ id }, call) => resetUserTotp(context, id, call),

  changeRole: (request, { caller }) => changeRole(context, request, caller),

  listUserSessions: (request, { caller }) => listUserSessions(context, request, caller),

  listUserDevices: (request, { caller }) => listUserDevices(context, request, caller),

  listUserActivities: (request, { caller }) => listActivities(context, request, caller),

  listUserWorkspaces: (request, { caller }) => listUserWorkspaces(context, request, caller),

  listUserEmails: (request, { caller }) => listUserEmails(context, request, caller),

  getUserFeatures: ({ id }, { caller }) => getUserFeatures(context, id, caller),

  setUserFeatures: (request, { caller }) => setUserFeatures(context, request, caller),

  revokeUserSession: (request, { caller }) => revokeUserSession(context, request, caller),

  revokeUserDevice: (request, { caller }) => revokeUserDevice(context, request, caller),

  deleteUser: ({ id }, { caller }) => deleteUser(context, id, caller),
})
