import { AppError, actions, type HttpBody, json, resources } from '@rollcall/contract'
import type { Caller, Handlers } from '@rollcall/rpc'
import { runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { roleQueue } from '../users/member-role.ts'
import { permissionsOf, refuseExcess } from './permissions.ts'
import { recordAffected } from './record-affected.ts'
import { presentRole, roleFields } from './role.model.ts'
import { saveRole } from './save-role.ts'

const catalogue = json(Object.entries(resources).map(([resource, description]) => ({ resource, actions, description })))

/** Handlers for roles: named sets of permissions for tokens (kind api) or members (kind user). */
export const roles = (context: Context): Handlers<'rollcall.identity.v1.Roles'> => ({
  async listRoles({ list, kind }, { caller }) {
    return runList({
      scope: context.collections.of(caller.organizationId).roles,
      query: list ?? {},
      fields: roleFields,
      defaultSort: { rank: 1, _id: -1 },
      ...(kind && { base: { kind: { $in: [kind, 'both'] } } }),
    })
  },

  getRole: async ({ id }, { caller }) =>
    json(presentRole(await context.collections.of(caller.organizationId).roles.get(id, 'role'))),

  saveRole: (request, { caller }) => saveRole(context, request, caller),

  deleteRole: ({ id }, { caller }) => deleteRole(context, id, caller),

  async listPermissions() {
    return catalogue
  },
})

/** Deletes a role. Its tokens are refused from then on, even if another role reuses the name. */
function deleteRole(context: Context, id: string, caller: Caller): Promise<HttpBody> {
  const { credentials, store, collections } = context
  const { roles, tokens, features } = collections.of(caller.organizationId)
  return credentials.change({ organizationId: caller.organizationId }, timeoutMs =>
    store.transaction(
      async tx => {
        const role = await roles.findOneAndDelete({ _id: id }, { tx })
        if (!role) throw new AppError('role.not_found')
        if (role.builtIn) throw new AppError('role.built_in')
        refuseExcess(permissionsOf(role.permissions), caller.permissions)
        if (role.memberCount > 0 || (role.membershipCount ?? 0) > 0) throw new AppError('role.in_use')
        await features.updateMany({ 'roles.role': role._id }, { $pull: { roles: { role: role._id } } }, { tx })
        await tokens.updateMany({ roleId: role._id }, { $set: { roleGone: true } }, { tx })
        const change = { type: 'role.deleted', before: role.permissions, after: {} } as const
        await recordAffected(context, role, change, caller, tx)
        const record = presentRole(role)
        const data = { role: record }
        await publish(context, caller, 'role.deleted', { organization: role.organization, subject: role._id, data }, tx)
        return json(record)
      },
      { timeoutMs, ...roleQueue(caller.organizationId) },
    ),
  )
}
