import type { Conditions } from './list-search.ts'

/** A chip of a filter bar, by the name of its field there. */
export type Chip<Name extends string> = { name: Name; value: string }

/** How the chips of a filter bar stand in a filter of the API: as a value, or as the days back from now. */
export type ChipFields<Name extends string> = Readonly<Record<Name, string | { daysOf: string }>>

/** Returns what chips show of a filter. */
export function chipsOf<Name extends string>(fields: ChipFields<Name>, filter: Conditions): Chip<Name>[] {
  return (Object.keys(fields) as Name[]).flatMap(name => {
    const field = fields[name]
    if (typeof field === 'string') {
      const value = filter[field]
      return typeof value === 'string' ? [{ name, value }] : []
    }
    const days = /^\{"\$gte":"now-(\d+)d"\}$/.exec(JSON.stringify(filter[field.daysOf]) ?? '')?.[1]
    return days ? [{ name, value: days }] : []
  })
}

/** Returns the filter with a chip set, or without it; undefined if nothing is left. */
export function withChip<Name extends string>(
  fields: ChipFields<Name>,
  filter: Conditions,
  name: Name,
  value: string | undefined,
): Conditions | undefined {
  const field = fields[name]
  const key = typeof field === 'string' ? field : field.daysOf
  const others = Object.fromEntries(Object.entries(filter).filter(([other]) => other !== key))
  if (value === undefined) return Object.keys(others).length > 0 ? others : undefined
  return { ...others, [key]: typeof field === 'string' ? value : { $gte: `now-${value}d` } }
}
