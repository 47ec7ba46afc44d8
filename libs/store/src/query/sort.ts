import type { IndexOptions, Schema } from 'mongoose'
import type { SortOrder } from '../tenancy/scope.ts'
import { type FieldTable, fieldOf, filterFieldOf, invalidParameter, parseObject } from './fields.ts'

const MAX_FIELDS = 8
const directions: Record<string, 1 | -1> = { '1': 1, '-1': -1, asc: 1, desc: -1 }

/** The default order: newest first. */
export const newestFirst: SortOrder = { _id: -1 }

/**
 * Parses the `sort` parameter into an order of stored fields; undefined if absent. Throws `request.invalid_field` with path
 * `sort` for fields that are not public and for directions other than 1, -1, "1", "-1", "asc", "desc".
 */
export function parseSort(text: string | undefined, fields: FieldTable): SortOrder | undefined {
  const wanted = Object.entries(parseObject('sort', text))
  if (wanted.length === 0) return undefined
  if (wanted.length > MAX_FIELDS) throw invalidParameter('sort', `has more than ${MAX_FIELDS} fields`)
  const order: Record<string, 1 | -1> = {}
  let arrays = 0
  for (const [name, value] of wanted) {
    const field = fieldOf(fields, name)
    if (!field || field.isComputed) throw invalidParameter('sort', `${name} is not a field that can be sorted by`)
    if (field.isArray && ++arrays > 1) throw invalidParameter('sort', 'names more than one array')
    order[field.key?.path ?? field.path] ??= directionOf(name, value)
  }
  return order
}

/**
 * Returns an order in which no two records are in the same place: it ends at its first unique field, so that an index holds
 * all of it, or has `_id` at its end, in the direction of the field before it.
 */
export function withTieBreak(order: SortOrder, unique: readonly string[] = []): SortOrder {
  const fields = Object.entries(order)
  const end = fields.findIndex(([field]) => unique.includes(field))
  if (end >= 0) return Object.fromEntries(fields.slice(0, end + 1))
  return '_id' in order ? order : { ...order, _id: fields.at(-1)?.[1] ?? -1 }
}

/**
 * Whether the reversed order lists the same records backwards. Not where an order names a field that is or passes through
 * an array, or is any JSON: MongoDB sorts an array by its smallest item ascending, and by its largest descending.
 */
export function isReversible(order: SortOrder, fields: FieldTable): boolean {
  const arrays = Object.keys(fields)
    .flatMap(name => filterFieldOf(fields, name) ?? [])
    .filter(({ isArray, type }) => isArray || type === 'scalar')
    .map(({ path }) => path.replace(/\.\*$/, ''))
  return !Object.keys(order).some(path => arrays.some(array => path === array || path.startsWith(`${array}.`)))
}

const known = new WeakMap<Schema, string[]>()

/** Returns the fields that are unique in an organization, by an index of all its records. */
export function uniqueFields(schema: Schema): readonly string[] {
  const fields = known.get(schema) ?? schema.indexes().flatMap(([fields, options]) => uniqueField(fields, options))
  known.set(schema, fields)
  return fields
}

function uniqueField(fields: object, { unique, partialFilterExpression }: IndexOptions): string[] {
  const [first, second, ...others] = Object.keys(fields)
  const isOfAll = unique && !partialFilterExpression && first === 'organization' && others.length === 0
  return isOfAll && second !== undefined ? [second] : []
}

function directionOf(name: string, value: unknown): 1 | -1 {
  const isText = typeof value === 'string' || typeof value === 'number'
  const direction = isText && Object.hasOwn(directions, String(value)) ? directions[String(value)] : undefined
  if (direction === undefined) throw invalidParameter('sort', `${name} must be 1 or -1`)
  return direction
}
