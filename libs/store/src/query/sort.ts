import type { SortOrder } from '../tenancy/scope.ts'
import { type FieldTable, fieldOf, invalidParameter, parseObject } from './fields.ts'

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
    if (!field) throw invalidParameter('sort', `${name} is not a field that can be sorted by`)
    if (field.isArray && ++arrays > 1) throw invalidParameter('sort', 'names more than one array')
    order[field.key?.path ?? field.path] ??= directionOf(name, value)
  }
  return order
}

/** The order with `_id` at its end, in the direction of the field before it: no two records are in the same place. */
export function withTieBreak(order: SortOrder): SortOrder {
  return '_id' in order ? order : { ...order, _id: Object.values(order).at(-1) ?? -1 }
}

function directionOf(name: string, value: unknown): 1 | -1 {
  const isText = typeof value === 'string' || typeof value === 'number'
  const direction = isText && Object.hasOwn(directions, String(value)) ? directions[String(value)] : undefined
  if (direction === undefined) throw invalidParameter('sort', `${name} must be 1 or -1`)
  return direction
}
