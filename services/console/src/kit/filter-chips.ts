import type { Conditions } from './list-search.ts'

/** A chip of a filter bar, by the name of its field there. */
export type Chip<Name extends string> = { name: Name; value: string }

/**
 * How the chips of a filter bar stand in a filter of the API: as a value, or as a time. The value of a time is the number
 * of days back from now, or its start and its end, one of which may be missing: `2026-11-01T00:00:00.000Z/`.
 */
export type ChipFields<Name extends string> = Readonly<Record<Name, string | { timeOf: string }>>

/** Returns what chips show of a filter, and the fields of it that none shows. */
export function chipsOf<Name extends string>(
  fields: ChipFields<Name>,
  filter: Conditions,
): { chips: Chip<Name>[]; rest: string[] } {
  const chips = (Object.keys(fields) as Name[]).flatMap(name => {
    const field = fields[name]
    const condition = filter[keyOf(field)]
    const value = typeof field === 'string' ? condition : readTime(condition)
    return typeof value === 'string' ? [{ name, value }] : []
  })
  const shown = chips.map(({ name }) => keyOf(fields[name]))
  return { chips, rest: Object.keys(filter).filter(key => !shown.includes(key)) }
}

/** Returns the filter with a chip set, or without it; undefined if nothing is left. */
export function withChip<Name extends string>(
  fields: ChipFields<Name>,
  filter: Conditions,
  name: Name,
  value: string | undefined,
): Conditions | undefined {
  const field = fields[name]
  const key = keyOf(field)
  if (value === undefined) return without(filter, [key])
  return { ...without(filter, [key]), [key]: typeof field === 'string' ? value : timeCondition(value) }
}

/** Returns the filter without some of its fields; undefined if nothing is left. */
export function without(filter: Conditions, keys: readonly string[]): Conditions | undefined {
  const others = Object.entries(filter).filter(([key]) => !keys.includes(key))
  return others.length > 0 ? Object.fromEntries(others) : undefined
}

/** Returns the start and the end of a time that is given by them; undefined for days back from now. */
export function rangeOf(value: string): { from: string; to: string } | undefined {
  const [from = '', to] = value.split('/')
  return to === undefined ? undefined : { from, to }
}

function keyOf(field: string | { timeOf: string }): string {
  return typeof field === 'string' ? field : field.timeOf
}

function timeCondition(value: string): Conditions {
  const range = rangeOf(value)
  if (!range) return { $gte: `now-${value}d` }
  return { ...(range.from && { $gte: range.from }), ...(range.to && { $lte: range.to }) }
}

function readTime(condition: unknown): string | undefined {
  if (typeof condition !== 'object' || condition === null) return undefined
  const { $gte: from = '', $lte: to = '', ...others } = condition as Conditions
  if (Object.keys(others).length > 0) return undefined
  const days = to === '' && /^now-(\d+)d$/.exec(String(from))?.[1]
  if (days) return days
  return isTime(from) && isTime(to) && (from || to) ? `${from}/${to}` : undefined
}

function isTime(value: unknown): value is string {
  return value === '' || (typeof value === 'string' && /^\d{4}-/.test(value) && !Number.isNaN(Date.parse(value)))
}
