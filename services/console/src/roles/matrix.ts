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

/** Returns what a change gives and takes, as sorted `resource.action` pairs. */
export function differences(before: Grants, after: Grants): { gained: string[]; lost: string[] } {
  const one = pairsOf(before)
  const other = pairsOf(after)
  return { gained: other.filter(pair => !one.includes(pair)), lost: one.filter(pair => !other.includes(pair)) }
}

/** Returns the sorted `resource.action` pairs of grants. */
export function pairsOf(grants: Grants): string[] {
  return Object.entries(grants)
    .flatMap(([resource, actions]) => actions.map(action => `${resource}.${action}`))
    .sort()
}

/** Returns the grants of a role; owner and admin hold all there are. */
export function grantsOf(permissions: Record<string, unknown>, all: readonly Permission[]): Grants {
  const everything = Object.fromEntries(all.map(({ resource, actions }) => [resource, actions]))
  return '*' in permissions ? everything : (permissions as Grants)
}
