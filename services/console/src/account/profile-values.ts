import type { UpdateAccountBody } from '@rollcall/sdk'

/** The fields of a profile that a form changes. */
export type ProfileValues = Pick<UpdateAccountBody, 'name' | 'language' | 'timezone' | 'country' | 'currency'>

type Values = { [Name in keyof ProfileValues]: string | null }

/** Returns the fields that differ; an empty one becomes null, which removes it. */
export function changesOf(before: Values, after: Values): ProfileValues {
  const names = Object.keys(after) as (keyof Values)[]
  const changed = names.filter(name => (before[name] || null) !== (after[name] || null))
  return Object.fromEntries(changed.map(name => [name, after[name] || null]))
}

/** Returns the known values in order, and the present one even if it is not known. */
export function choicesOf(known: readonly string[], present: string | null): string[] {
  return [...new Set([...known, ...(present ? [present] : [])])].sort()
}
