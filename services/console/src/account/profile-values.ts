import type { UpdateAccountBody } from '@rollcall/sdk'

type Values = { [Name in keyof UpdateAccountBody]: string | null }

/** Returns the fields that differ; an empty one becomes null, which removes it. */
export function changesOf(before: Values, after: Values): UpdateAccountBody {
  const names = Object.keys(after) as (keyof Values)[]
  const changed = names.filter(name => (before[name] || null) !== (after[name] || null))
  return Object.fromEntries(changed.map(name => [name, after[name] || null]))
}

/** Returns the known values in order, and the present one even if it is not known. */
export function choicesOf(known: readonly string[], present: string | null): string[] {
  return [...new Set([...known, ...(present ? [present] : [])])].sort()
}
