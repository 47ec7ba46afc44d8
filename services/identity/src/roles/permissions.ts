import {
  type Action,
  AppError,
  actions,
  isResource,
  type Permissions,
  type Resource,
  resources,
} from '@rollcall/contract'

/** What a role grants, as it is stored and shown: actions by resource, both in the catalogue's order. */
export type Grants = { [R in Resource]?: Action[] }

const allResources = Object.keys(resources) as Resource[]

/** Every resource.action pair there is, sorted. */
export const everyPermission: readonly string[] = allResources.flatMap(pairsOf(() => actions)).sort()

/** Grants on every resource, as decided resource by resource. */
export function grantEach(decide: (resource: Resource) => readonly Action[]): Grants {
  return Object.fromEntries(
    allResources
      .map(resource => [resource, [...decide(resource)]] as const)
      .filter(([, granted]) => granted.length > 0),
  )
}

/** Lists grants as resource.action pairs, sorted. */
export function permissionsOf(grants: Grants): string[] {
  return allResources.flatMap(pairsOf(resource => grants[resource] ?? [])).sort()
}

/** The permissions among `wanted` that `held` does not have, sorted; none where everything is held. */
export function excessOf(wanted: Permissions, held: Permissions): string[] {
  if (held === '*') return []
  const pairs = wanted === '*' ? everyPermission : wanted
  return pairs.filter(pair => !held.includes(pair)).sort()
}

/** Refuses to hand out more than one has. @throws {AppError} forbidden, naming what exceeds */
export function refuseExcess(wanted: Permissions, held: Permissions): void {
  const excess = excessOf(wanted, held)
  if (excess.length === 0) return
  throw new AppError('role.exceeds_permissions', { excess })
}

/**
 * Reads the grants of a request, actions by resource. Repeated actions count once.
 * @throws {AppError} invalid_field or empty_array at `permissions.<resource>`; what is invalid comes before what is empty
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
