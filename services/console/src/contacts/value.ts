import type { Attribute } from '@rollcall/sdk'

/** Returns the value of a field as people read it; undefined where there is none. */
export function shownValue(
  value: unknown,
  type: Attribute['type'] | undefined,
  language: string,
  words: { yes: string; no: string },
): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return value.toLocaleString(language)
  if (Array.isArray(value)) return value.length > 0 ? value.join(', ') : undefined
  if (type === 'date' && typeof value === 'string')
    return new Date(value).toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' })
  return String(value)
}

/** `attributes.trial_ends` by the name that people gave it. */
export function fieldName(key: string, attributes: readonly Attribute[]): string {
  const slug = key.replace(/^attributes\./, '')
  const known = attributes.find(attribute => attribute.slug === slug)
  return known?.name ?? slug.charAt(0).toUpperCase() + slug.slice(1)
}

/** Returns what differs between two values: of lists of values those that went and those that came. */
export function differenceOf(from: unknown, to: unknown): [gone: unknown, come: unknown] {
  if (!Array.isArray(from) || !Array.isArray(to)) return [from, to]
  return [from.filter(value => !to.includes(value)), to.filter(value => !from.includes(value))]
}
