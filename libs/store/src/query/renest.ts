import { isPlainObject, Misfit } from './fields.ts'

/** Conditions by field name, one level deep, in the order the client wrote them. */
export type Conditions = Map<string, unknown>

/**
 * Flattens a filter to paths, then nests it again by one level: a path of one segment stays as it is, a longer one
 * becomes its last segment within the dotted rest, and leaves with the same rest merge. A key is one segment whatever
 * dots it has. Throws `Misfit` where two leaves claim the same place.
 */
export function renest(filter: Record<string, unknown>): Conditions {
  const conditions: Conditions = new Map()
  for (const { path, value } of leaves(filter, [])) {
    const last = path.at(-1)!
    if (path.length === 1) claim(conditions, last, value, last)
    else claim(groupOf(conditions, path.slice(0, -1).join('.')), last, value, path.join('.'))
  }
  for (const [name, value] of conditions) {
    if (value instanceof Group) conditions.set(name, Object.fromEntries(value))
  }
  return conditions
}

type Leaf = { path: string[]; value: unknown }

/** Leaves that share everything but the last segment of their path. */
class Group extends Map<string, unknown> {}

function* leaves(node: Record<string, unknown>, above: string[]): Generator<Leaf> {
  for (const [key, value] of Object.entries(node)) {
    const path = [...above, key]
    if (isPlainObject(value) && Object.keys(value).length > 0) yield* leaves(value, path)
    else yield { path, value }
  }
}

function groupOf(conditions: Conditions, name: string): Group {
  const existing = conditions.get(name)
  if (existing instanceof Group) return existing
  const group = new Group()
  claim(conditions, name, group, name)
  return group
}

function claim(place: Map<string, unknown>, key: string, value: unknown, path: string): void {
  if (place.has(key)) throw new Misfit(`${path} is given twice`)
  place.set(key, value)
}
