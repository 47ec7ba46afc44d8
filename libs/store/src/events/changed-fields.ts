import { isDeepStrictEqual } from 'node:util'

/** The names of the fields in `wanted` whose values differ from those of `before`, in the order of `wanted`. */
export function changedFields<W extends object>(
  before: { [field in keyof W]?: unknown },
  wanted: W,
): (keyof W & string)[] {
  const fields = Object.keys(wanted) as (keyof W & string)[]
  return fields.filter(field => !isDeepStrictEqual(before[field], wanted[field]))
}

/** The old and the new value of a field, as the API shows them. */
export type FieldChange = { from: unknown; to: unknown }

/**
 * Returns the old and the new values of changed fields for an event.
 * @param before the record as the API showed it, so that fields that it never shows are left out
 * @param after the record as the API shows it now
 */
export function changesBetween(changed: readonly string[], before: object, after: object): Record<string, FieldChange> {
  const [old, current] = [before as Record<string, unknown>, after as Record<string, unknown>]
  const shown = changed.filter(field => field in old || field in current)
  return Object.fromEntries(shown.map(field => [field, { from: old[field] ?? null, to: current[field] ?? null }]))
}
