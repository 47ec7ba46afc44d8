import {
  type Action,
  AppError,
  actions,
  isResource,
  type Permissions,
  type Resource,
  resources,
} from '@rollcall/contract'

/** Permissions of a role as stored and shown: actions by resource, both in catalogue order. */
export type Grants = { [R in Resource]?: Action[] }

const allResources = Object.keys(resources) as Resource[]

/** All resource.action pairs, sorted. */
export const everyPermission: readonly string[] = allResources.flatMap(pairsOf(() => actions)).sort()

/** Returns grants with the actions that `decide` gives for each resource. */
export function grantEach(decide: (resource: Resource) => readonly Action[]): Grants {
  return Object.fromEntries(
    allResources
      .map(resource => [resource, [...decide(resource)]] as const)
      .filter(([, granted]) => granted.length > 0),
  )
}

/** Returns grants as sorted resource.action pairs. */
export function permissionsOf(grants: Grants): string[] {
  return allResources.flatMap(pairsOf(resource => grants[resource] ?? [])).sort()
}

/** Returns the permissions of `wanted` that are not in `held`, sorted. */
export function excessOf(wanted: Permissions, held: Permissions): string[] {
  if (held === '*') return []
  const pairs = wanted === '*' ? everyPermission : wanted
  return pairs.filter(pair => !held.includes(pair)).sort()
}

/**
 * Rejects granting permissions that the caller does not have.
 * @throws {AppError} role.exceeds_permissions, with the excess permissions
 */
export function refuseExcess(wanted: Permissions, held: Permissions): void {
  const excess = excessOf(wanted, held)
  if (excess.length === 0) return
  throw new AppError('role.exceeds_permissions', { excess })
}

/**
 * Parses the grants of a request: actions by resource, without duplicates.
 * @throws {AppError} request.invalid_field or request.empty_array at `permissions.<resource>`; invalid entries are
 * reported first
 */
export function parseGrants(permissions: Record<string, unknown>): Grants {
  const entries = Object.entries(permissions)
  for (const [resource, granted] of entries) {
    const reason = problemOf(resource, granted)
    if (reason) throw new AppError('request.invalid_field', { path: `permissions.${resource}`, reason })
  }
  const grants = Object.fromEntries(entries) as Record<string, string[]>
  for (const [resource, granted] of Object.entries(grants)) {
    if (granted.length === 0) throw new AppError('request.empty_array', { path: `permissions.${resource}` })
  }
  return grantEach(resource => actions.filter(action => grants[resource]?.includes(action)))
}

function problemOf(resource: string, granted: unknown): string | undefined {
  if (!isResource(resource)) return 'unknown resource'
  if (!Array.isArray(granted)) return 'must be an array of actions'
  if (!granted.every(action => actions.includes(action))) return `actions are ${actions.join(', ')}`
  return undefined
}

function pairsOf(granted: (resource: Resource) => readonly Action[]) {
  return (resource: Resource) => granted(resource).map(action => `${resource}.${action}`)
}
