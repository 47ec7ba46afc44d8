import type { ListQuery } from '@rollcall/sdk'
import { escapePattern } from './escape-pattern.ts'

/** The parameters of a list, of any records. */
export type ListRequest = ListQuery<object>

/** What the address of a list says. */
export type ListSearch = {
  q?: string
  /** A filter of the API. */
  filter?: Conditions
  /** A field, after a minus if descending. */
  sort?: string
  page?: number
  size?: number
  /** Columns that are shown, if other than usual. */
  cols?: string[]
  tab?: string
  /** Id of the record that is shown beside the list. */
  show?: string
  /** The form for a new record is open. */
  new?: true
}

/** A filter of the API as the console makes it: conditions by field. */
export type Conditions = Record<string, unknown>

export const PAGE_SIZES = [25, 50, 100] as const
export const USUAL_SIZE = 25
/** The longest pattern that the API takes, less what is put around it. */
const MAX_PATTERN = 60

/** Reads the search parameters of a list. Ignores what does not parse. */
export function readListSearch(raw: Record<string, unknown>): ListSearch {
  const { q, filter, sort, page, size, cols, tab, show, new: isNew } = raw
  return {
    ...(isText(q) && { q: String(q) }),
    ...(isObject(filter) && { filter }),
    ...(typeof sort === 'string' && /^-?[\w.]+$/.test(sort) && { sort }),
    ...(isPage(page) && page > 1 && { page }),
    ...(PAGE_SIZES.some(known => known === size) && size !== USUAL_SIZE && { size: size as number }),
    ...(Array.isArray(cols) && { cols: cols.filter(name => typeof name === 'string') }),
    ...(typeof tab === 'string' && { tab }),
    ...(isText(show) && { show: String(show) }),
    ...(isNew === true && { new: isNew }),
  }
}

/** Whether an address has a filter that does not parse. */
export function isFilterUnreadable({ filter }: Record<string, unknown>): boolean {
  return filter !== undefined && !isObject(filter)
}

/** Returns the query of a list. `searched` are the fields that `q` looks at, from their beginning. */
export function listQueryOf(search: ListSearch, searched: readonly string[]): ListRequest {
  const { q, filter = {}, sort, page = 1, size = USUAL_SIZE } = search
  const all = q ? both(filter, beginsWith(q, searched)) : filter
  return {
    page,
    limit: size,
    ...(Object.keys(all).length > 0 && { filter: all }),
    ...(sort && { sort: { [sort.replace(/^-/, '')]: sort.startsWith('-') ? -1 : 1 } as object }),
  }
}

/** Returns what a click on the header of a column makes of the sort: ascending, descending, as `usual` without one. */
export function nextSort(sort: string | undefined, field: string, usual?: string): string | undefined {
  if (sort === field) return `-${field}`
  return sort === `-${field}` && usual !== sort ? undefined : field
}

/** Returns the order of a list as the address names it; undefined for one by several fields or none. */
export function sortOf(order: Readonly<Record<string, unknown>>): string | undefined {
  const [[field, direction] = [], ...others] = Object.entries(order)
  if (field === undefined || others.length > 0) return undefined
  return direction === -1 || direction === '-1' || direction === 'desc' ? `-${field}` : field
}

/** Whether anything narrows the list. */
export function isNarrowed({ q, filter }: ListSearch): boolean {
  return Boolean(q) || Object.keys(filter ?? {}).length > 0
}

/** Returns a filter with a further condition, one level deep: the API takes few levels. */
export function both(filter: Conditions, condition: Conditions): Conditions {
  if (Object.keys(filter).length === 0) return condition
  return { ...filter, $and: [...((filter.$and as Conditions[] | undefined) ?? []), condition] }
}

function beginsWith(text: string, fields: readonly string[]): Conditions {
  const pattern = `^${escapePattern(text.trim())}`.slice(0, MAX_PATTERN).replace(/\\$/, '')
  const each = fields.map(field => ({ [field]: { $regex: pattern, $options: 'i' } }))
  return each.length === 1 ? each[0]! : { $or: each }
}

// The router reads ?q=2024 as a number.
const isText = (value: unknown) => (typeof value === 'string' && value !== '') || typeof value === 'number'
const isPage = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0
const isObject = (value: unknown): value is Conditions =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
