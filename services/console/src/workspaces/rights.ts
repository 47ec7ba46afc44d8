import type { Me, Role } from '@rollcall/sdk'
import { ACTIONS, type Action } from '../roles/matrix.ts'
import { outranks } from '../users/rank.ts'

/** What a person may do within a workspace. */
export type WorkspaceRights = {
  /** The role that decides: that in the workspace, for owners and admins of the organization that in it. */
  role: string
  actions: readonly Action[]
  /** May make owners, and change or remove them. */
  isOwner: boolean
}

/**
 * Returns the rights of a person in a workspace. A role of the organization's own that is not among the known ones is
 * taken to allow everything: then the server refuses what it does not.
 */
export function rightsIn(me: Pick<Me, 'role'>, ownRole: string | undefined, roles: readonly Role[]): WorkspaceRights {
  if (outranks(me.role, 'user')) return { role: me.role, actions: ACTIONS, isOwner: true }
  if (ownRole === undefined) return { role: me.role, actions: ACTIONS, isOwner: false }
  const role = roles.find(({ name }) => name === ownRole)
  return {
    role: ownRole,
    actions: ownRole === 'user' ? ['read'] : role ? actionsOf(role) : ACTIONS,
    isOwner: ownRole === 'owner',
  }
}

/** Returns the actions within a workspace that a role allows. */
export function actionsOf({ name, permissions }: Pick<Role, 'name' | 'permissions'>): readonly Action[] {
  if (outranks(name, 'user') || '*' in permissions) return ACTIONS
  return (permissions.workspaces as Action[] | undefined) ?? []
}
