import { type Document, EJSON } from 'bson'

/** A parsed filter: a condition on a path, or several filters. */
export type Filter =
  | { operator: '$and' | '$or' | '$nor'; filters: Filter[] }
  | { operator: string; path: string; value: unknown }

const LOGICAL = ['$and', '$or', '$nor']
const RANGES = ['$lt', '$lte', '$gt', '$gte']

/** Parses a filter as MongoDB does: a document is the `$and` of its conditions. */
export function parseFilter(document: Document): Filter {
  const filters = Object.entries(document).flatMap(([path, value]) =>
    LOGICAL.includes(path)
      ? { operator: path as '$and', filters: (value as Document[]).map(parseFilter) }
      : conditionsOn(path, value),
  )
  const flat = filters.flatMap(filter => (filter.operator === '$and' && 'filters' in filter ? filter.filters : filter))
  return flat.length === 1 ? flat[0]! : { operator: '$and', filters: flat }
}

function conditionsOn(path: string, value: unknown): Filter[] {
  const isExpression = isPlain(value) && Object.keys(value)[0]?.startsWith('$')
  if (!isExpression) return [{ operator: '$eq', path, value }]
  return Object.entries(value).map(([operator, operand]) => ({ operator, path, value: operand }))
}

/** Returns the conditions that every matching document fulfils. */
export function requiredConditions(filter: Filter): { operator: string; path: string; value: unknown }[] {
  if (!('filters' in filter)) return [filter]
  return filter.operator === '$and' ? filter.filters.flatMap(requiredConditions) : []
}

/**
 * Whether MongoDB can prove that documents matching `query` match the partial filter `index`: `isSubsetOf` of its
 * `src/mongo/db/matcher/expression_algo.cpp`. It knows comparisons, `$in` and `$exists` on the side of the index.
 * `$type` is implied by an identical `$type` only.
 */
export function isSubsetOf(query: Filter, index: Filter): boolean {
  if (isEqual(query, index)) return true
  if ('filters' in index) {
    if (index.operator === '$or') return index.filters.some(filter => isSubsetOf(query, filter))
    return index.operator === '$and' && index.filters.every(filter => isSubsetOf(query, filter))
  }
  if ('filters' in query) {
    if (query.operator === '$and') return query.filters.some(filter => isSubsetOf(filter, index))
    return query.operator === '$or' && query.filters.every(filter => isSubsetOf(filter, index))
  }
  if (query.path !== index.path) return false
  if (index.operator === '$exists') return provesExistence(query.operator, query.value)
  if (index.operator === '$in') {
    return (index.value as unknown[]).some(value => isSubsetOf(query, { operator: '$eq', path: index.path, value }))
  }
  if (query.operator === '$in') {
    return (query.value as unknown[]).every(value => isSubsetOf({ operator: '$eq', path: query.path, value }, index))
  }
  return provesComparison(query, index)
}

function provesExistence(operator: string, value: unknown): boolean {
  if (operator === '$in') return !(value as unknown[]).includes(null)
  if (operator === '$ne') return value === null
  if (operator === '$exists') return value === true
  if (operator === '$eq' || RANGES.includes(operator)) return value !== null
  return ['$elemMatch', '$mod', '$regex', '$size', '$type'].includes(operator)
}

type Condition = { operator: string; value: unknown }

function provesComparison(query: Condition, index: Condition): boolean {
  const isRange = RANGES.includes(index.operator)
  const isSameSide = query.operator === '$eq' || query.operator.slice(0, 3) === index.operator.slice(0, 3)
  if (!isRange || !isSameSide || kindOf(query.value) !== kindOf(index.value)) return false
  const order = compare(query.value, index.value) * (index.operator.startsWith('$lt') ? -1 : 1)
  return index.operator.endsWith('e') ? order >= 0 : order > 0 || (order === 0 && query.operator === index.operator)
}

/** Whether a document matches a partial filter, of the operators that those may have. */
export function matches(document: Document, filter: Filter): boolean {
  if ('filters' in filter) {
    if (filter.operator === '$and') return filter.filters.every(part => matches(document, part))
    return filter.filters.some(part => matches(document, part)) === (filter.operator === '$or')
  }
  const { operator, path, value } = filter
  const actual = valueAt(document, path)
  const values = Array.isArray(actual) ? [actual, ...actual] : [actual]
  return values.some(one => fulfils(one, { operator, value }))
}

function fulfils(actual: unknown, { operator, value }: Condition): boolean {
  if (operator === '$exists') return (actual !== undefined) === value
  if (operator === '$type') return [value].flat().includes(kindOf(actual))
  if (operator === '$in') return (value as unknown[]).some(one => isEqual(actual ?? null, one))
  if (operator === '$eq') return isEqual(actual ?? null, value)
  if (!RANGES.includes(operator)) throw new Error(`${operator} is not known in partial filters`)
  return kindOf(actual) === kindOf(value) && provesComparison({ operator: '$eq', value: actual }, { operator, value })
}

/** Returns the value at a dotted path. */
export function valueAt(document: Document, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document)
}

/** Whether a value is a document, not a value of a type of its own. */
export function isPlain(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Returns the name of the value's BSON type as `$type` takes it. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof Date) return 'date'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value !== 'object') return typeof value
  const type = (value as { _bsontype?: string })._bsontype
  return type === undefined ? 'object' : type === 'ObjectId' ? 'objectId' : type === 'Binary' ? 'binData' : type
}

const isEqual = (one: unknown, other: unknown) => text(one) === text(other)
const text = (value: unknown) => EJSON.stringify(value ?? null)

function compare(one: unknown, other: unknown): number {
  const [left, right] = [one, other].map(value => (typeof value === 'object' ? String(value) : value)) as [
    string,
    string,
  ]
  if (one instanceof Date) return Math.sign(one.getTime() - (other as Date).getTime())
  return left < right ? -1 : left > right ? 1 : 0
}
