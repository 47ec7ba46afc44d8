import type { Permission } from '@rollcall/sdk'

export const ACTIONS = ['read', 'create', 'update', 'delete'] as const
export type Action = (typeof ACTIONS)[number]

/** Actions by resource, as a role holds them. */
export type Grants = Record<string, string[]>

/** Returns the grants with one action of a resource switched. */
export function toggled(grants: Grants, resource: string, action: string): Grants {
  const held = grants[resource] ?? []
  return withActions(grants, resource, held.includes(action) ? held.filter(one => one !== action) : [...held, action])
}

/** Returns the grants with exactly these actions of a resource. */
export function withActions(grants: Grants, resource: string, actions: readonly string[]): Grants {
  const others = Object.fromEntries(Object.entries(grants).filter(([name]) => name !== resource))
  if (actions.length === 0) return others
  return { ...others, [resource]: ACTIONS.filter(action => actions.includes(action)) }
}

/** Returns the sorted `resource.action` pairs of grants. */
export function pairsOf(grants: Grants): string[] {
  return Object.entries(grants)
    .flatMap(([resource, actions]) => actions.map(action => `${resource}.${action}`))
    .sort()
}

/** What a new role begins with. */
export type RoleDraft = { name: string; permissions: Grants }

/** Reads the draft of a role from the address, undefined if there is none. */
export function readDraft(value: unknown): RoleDraft | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('permissions' in value)) return undefined
  const { name, permissions } = value
  if (typeof name !== 'string' || typeof permissions !== 'object' || permissions === null) return undefined
  const isGrants = Object.values(permissions).every(
    actions => Array.isArray(actions) && actions.every(action => ACTIONS.includes(action)),
  )
  return isGrants ? { name, permissions: permissions as Grants } : undefined
}

const GROUPS = {
  audience: /^audience/,
  sending: /^email/,
  content: /^(collections|content|links|assets)$/,
  access: /^(tokens|roles|users|workspaces|features|settings)$/,
  integration: /^(webhooks|events)$/,
  workflows: /^workflows/,
  other: /./,
} as const
export type GroupName = keyof typeof GROUPS

/** Returns the permissions by what they are about, in the order of the matrix. */
export function groupsOf(permissions: readonly Permission[]): { name: GroupName; permissions: Permission[] }[] {
  const names = Object.keys(GROUPS) as GroupName[]
  const by = Map.groupBy(permissions, ({ resource }) => names.find(name => GROUPS[name].test(resource))!)
  return names.flatMap(name => (by.has(name) ? [{ name, permissions: by.get(name)! }] : []))
}

/** Returns the grants of a role; owner and admin hold all there are. */
export function grantsOf(permissions: Record<string, unknown>, all: readonly Permission[]): Grants {
  const everything = Object.fromEntries(all.map(({ resource, actions }) => [resource, actions]))
  return '*' in permissions ? everything : (permissions as Grants)
}

/** Returns the permissions of a role that a person does not hold. */
export function excessOf(
  permissions: Record<string, unknown>,
  all: readonly Permission[],
  mine: readonly string[],
): string[] {
  if (mine.includes('*')) return []
  if (all.length === 0 && '*' in permissions) return ['*']
  return pairsOf(grantsOf(permissions, all)).filter(pair => !mine.includes(pair))
}
