import type { Conditions } from '../kit/list-search.ts'

/** What a chip of the filter bar says. */
export type Chip = { name: ChipName; value: string }
export type ChipName = 'status' | 'tag' | 'source' | 'created' | 'importJob'

export const STATUSES = ['subscribed', 'unsubscribed', 'blocked', 'bounced', 'complained'] as const
export type Status = (typeof STATUSES)[number]
export const SOURCES = ['api', 'import', 'form', 'workflow'] as const
/** Days back, for the chip of the time of creation. */
export const PERIODS = ['1', '7', '30', '90'] as const

const STATUS_CONDITIONS: Record<Status, Conditions> = {
  subscribed: { unsubscribed: false, blocked: false },
  unsubscribed: { unsubscribed: true },
  blocked: { blocked: true },
  bounced: { emailStatus: 'bounced' },
  complained: { emailStatus: 'complained' },
}
const FIELDS: Record<ChipName, readonly string[]> = {
  status: ['unsubscribed', 'blocked', 'emailStatus'],
  tag: ['tags'],
  source: ['source'],
  created: ['createdAt'],
  importJob: ['importJob'],
}

/** Returns the filter with a chip set, or without it. */
export function withChip(filter: Conditions, name: ChipName, value: string | undefined): Conditions {
  const others = Object.fromEntries(Object.entries(filter).filter(([field]) => !FIELDS[name].includes(field)))
  return value === undefined ? others : { ...others, ...conditionsOf(name, value) }
}

/** Returns what chips show of a filter, its conditions of attributes, and the names of the other fields. */
export function readChips(filter: Conditions): { chips: Chip[]; attributes: string[]; rest: string[] } {
  const chips: Chip[] = []
  const status = STATUSES.find(name => matches(filter, FIELDS.status, STATUS_CONDITIONS[name]))
  if (status) chips.push({ name: 'status', value: status })
  if (typeof filter.tags === 'string') chips.push({ name: 'tag', value: filter.tags })
  if (typeof filter.source === 'string') chips.push({ name: 'source', value: filter.source })
  if (typeof filter.importJob === 'string') chips.push({ name: 'importJob', value: filter.importJob })
  const days = /^\{"\$gte":"now-(\d+)d"\}$/.exec(JSON.stringify(filter.createdAt) ?? '')?.[1]
  if (days) chips.push({ name: 'created', value: days })
  const shown = chips.flatMap(({ name }) => FIELDS[name])
  const others = Object.keys(filter).filter(field => !shown.includes(field))
  const isOfAttribute = (field: string) => field.startsWith('attributes.')
  return { chips, attributes: others.filter(isOfAttribute), rest: others.filter(field => !isOfAttribute(field)) }
}

function conditionsOf(name: ChipName, value: string): Conditions {
  switch (name) {
    case 'status':
      return STATUS_CONDITIONS[value as Status]
    case 'tag':
      return { tags: value }
    case 'created':
      return { createdAt: { $gte: `now-${value}d` } }
    default:
      return { [name]: value }
  }
}

function matches(filter: Conditions, fields: readonly string[], wanted: Conditions): boolean {
  return fields.every(field => filter[field] === wanted[field])
}
