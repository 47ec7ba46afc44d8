import { actions, type Permissions, type Resource } from '@rollcall/contract'
import { type Grants, grantEach, permissionsOf } from './permissions.ts'

const names = ['owner', 'admin', 'user'] as const

/** A role that every organization has; nobody can change it. */
export type BuiltInName = (typeof names)[number]

/** A built-in role: what it allows, and the same as grants, for showing it. */
export type BuiltInRole = { name: BuiltInName; description: string; permissions: Permissions; grants: Grants }

const hiddenFromUsers: ReadonlySet<Resource> = new Set(['tokens', 'roles', 'users', 'email_provider', 'settings'])
const everything = grantEach(() => actions)
const reading = grantEach(resource => (hiddenFromUsers.has(resource) ? [] : ['read']))

/** The built-in roles, the most powerful first. */
export const builtInRoles: readonly BuiltInRole[] = [
  { name: 'owner', description: 'May do everything', permissions: '*', grants: everything },
  { name: 'admin', description: 'May do everything', permissions: '*', grants: everything },
  {
    name: 'user',
    description: 'Reads everything but tokens, roles, users, the mail provider and settings',
    permissions: permissionsOf(reading),
    grants: reading,
  },
]

/** The built-in role of a name, if it is one. */
export function builtInRole(name: string): BuiltInRole | undefined {
  return builtInRoles.find(role => role.name === name)
}

/** Whether a name is, or could be taken for, that of a built-in role. */
export function resemblesBuiltIn(name: string): boolean {
  return builtInRole(name.toLowerCase()) !== undefined
}

/** Owner and admin: the roles that no permission is withheld from. */
export function isPrivileged(name: string): boolean {
  return builtInRole(name)?.permissions === '*'
}

/** Whether a role is of a higher rank than another: owner before admin, before every other role. */
export function outranks(role: string, other: string): boolean {
  const rankOf = (name: string) => (isPrivileged(name) ? builtInRoles.findIndex(role => role.name === name) : Infinity)
  return rankOf(role) < rankOf(other)
}

/** Of two roles' names, the one of the lower rank. */
export function lesserOf(one: string, other: string): string {
  return outranks(one, other) ? other : one
}
