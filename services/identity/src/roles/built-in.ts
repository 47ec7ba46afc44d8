import { actions, type Permissions, type Resource } from '@rollcall/contract'
import { type Grants, grantEach, permissionsOf } from './permissions.ts'

const names = ['owner', 'admin', 'user'] as const

/** Name of a built-in role: it exists in every organization and cannot be changed. */
export type BuiltInName = (typeof names)[number]

/** A built-in role: its permissions, and the same as grants for output. */
export type BuiltInRole = { name: BuiltInName; description: string; permissions: Permissions; grants: Grants }

const hiddenFromUsers: ReadonlySet<Resource> = new Set([
  'tokens',
  'roles',
  'users',
  'email_provider',
  'email_suppressions',
  'settings',
  'webhooks',
  'events',
])
const everything = grantEach(() => actions)
const reading = grantEach(resource => (hiddenFromUsers.has(resource) ? [] : ['read']))

/** The built-in roles, highest rank first. */
export const builtInRoles: readonly BuiltInRole[] = [
  { name: 'owner', description: 'May do everything', permissions: '*', grants: everything },
  { name: 'admin', description: 'May do everything', permissions: '*', grants: everything },
  {
    name: 'user',
    description:
      'Reads everything but tokens, roles, users, the mail provider, suppressions, settings, webhooks and events',
    permissions: permissionsOf(reading),
    grants: reading,
  },
]

/** Returns the built-in role with a name, or undefined. */
export function builtInRole(name: string): BuiltInRole | undefined {
  return builtInRoles.find(role => role.name === name)
}

/** Whether a name is, or looks like, that of a built-in role. */
export function resemblesBuiltIn(name: string): boolean {
  return builtInRole(name.toLowerCase()) !== undefined
}

/** Whether a role is owner or admin, which have all permissions. */
export function isPrivileged(name: string): boolean {
  return builtInRole(name)?.permissions === '*'
}

/** Whether a role has a higher rank than another: owner, then admin, then all others. */
export function outranks(role: string, other: string): boolean {
  const rankOf = (name: string) => (isPrivileged(name) ? builtInRoles.findIndex(role => role.name === name) : Infinity)
  return rankOf(role) < rankOf(other)
}

/** Returns the role name with the lower rank. */
export function lesserOf(one: string, other: string): string {
  return outranks(one, other) ? other : one
}
