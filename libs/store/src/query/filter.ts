import { Types } from 'mongoose'
import {
  cast,
  type Field,
  type FieldTable,
  filterFieldOf,
  invalidParameter,
  isPlainObject,
  Misfit,
  parseObject,
} from './fields.ts'
import { afterPrefix, escapeLiteral, readPattern } from './pattern.ts'
import { renest } from './renest.ts'

const MAX_KEYS = 50
const MAX_DEPTH = 5
const MAX_ITEMS = 500
const MAX_PATTERNS = 3

type Doc = Record<string, unknown>

/**
 * The `filter` parameter as a query on stored fields. Dates relative to `now` become absolute. Throws
 * `request.invalid_field` with path `filter` for what is not an object within the limits, names a field or operator that is
 * not allowed, or compares with a value that does not fit.
 */
export function parseFilter(text: string | undefined, fields: FieldTable, now = new Date()): Doc {
  const filter = parseObject('filter', text)
  try {
    measure(filter)
    return compile(filter, { fields, now })
  } catch (error) {
    throw error instanceof Misfit ? invalidParameter('filter', error.message) : error
  }
}

function measure(filter: Doc): void {
  let keys = 0
  let patterns = 0
  const visit = (node: unknown, depth: number) => {
    if (typeof node !== 'object' || node === null) return
    if (depth > MAX_DEPTH) throw new Misfit(`is nested deeper than ${MAX_DEPTH}`)
    // An array of objects is as deep as its objects.
    if (Array.isArray(node)) {
      for (const item of node) visit(item, Array.isArray(item) ? depth + 1 : depth)
      return
    }
    keys += Object.keys(node).length
    if (keys > MAX_KEYS) throw new Misfit(`has more than ${MAX_KEYS} keys`)
    if ('$regex' in node && ++patterns > MAX_PATTERNS) throw new Misfit(`has more than ${MAX_PATTERNS} $regex`)
    for (const value of Object.values(node)) visit(value, depth + 1)
  }
  visit(filter, 1)
}

const logical = new Set(['$and', '$or', '$nor'])

/** The fields that a filter may name, and the time that its dates are relative to. */
type Terms = { fields: FieldTable; now: Date }
/** A field that a filter names. */
type Named = Field & { name: string; now: Date }

function compile(filter: Doc, terms: Terms): Doc {
  const query = new Query()
  for (const [name, condition] of renest(filter)) {
    if (logical.has(name)) query.add(name, undefined, branches(name, condition, terms))
    else if (name.startsWith('$')) throw new Misfit(`${name} is not an operator here`)
    else if (isPlainObject(condition)) compileObject(query, name, condition, terms)
    else query.equals(allowed(terms, name), condition)
  }
  return query.conditions
}

function branches(name: string, list: unknown, terms: Terms): Doc[] {
  if (!Array.isArray(list) || list.length === 0 || !list.every(isPlainObject)) {
    throw new Misfit(`${name} takes an array of filters`)
  }
  return list.map(branch => compile(branch, terms))
}

/** Parses operators on a field, or a sub-object that it must equal. */
function compileObject(query: Query, name: string, condition: Doc, terms: Terms): void {
  const keys = Object.keys(condition)
  if (keys.length === 0) {
    query.equals(allowed(terms, name), condition)
    return
  }
  if (!keys.some(key => key.startsWith('$'))) {
    const parts = keys.map(key => [key, equalTo(allowed(terms, `${name}.${key}`), condition[key])])
    query.add(filterFieldOf(terms.fields, name)?.path ?? name, '$eq', Object.fromEntries(parts))
    return
  }
  const field = allowed(terms, name)
  if ('$regex' in condition) addPattern(query, field, condition)
  else if ('$options' in condition) throw new Misfit(`$options of ${name} needs $regex`)
  for (const key of keys) {
    if (key === '$regex' || key === '$options') continue
    const operator = ownOperator(key)
    if (!operator) throw new Misfit(`${key} is not an operator that ${name} can take`)
    const value = operator.value(field, condition[key], key)
    if (key === '$exists' && field.isHiddenSet)
      query.add(field.path, value ? '$gte' : '$not', value ? FIRST_ID : hasItem)
    else if (key === '$all') addAll(query, comparedPath(field), value as unknown[])
    else query.add(operator.literal ? field.path : comparedPath(field), key, value)
  }
}

/** Compares with null by itself: MongoDB finds a missing value by `$all: [null]`, SecantusDB does not. */
function addAll(query: Query, path: string, values: readonly unknown[]): void {
  const others = values.filter(value => value !== null)
  if (others.length < values.length) query.add(path, '$eq', null)
  if (others.length > 0 || values.length === 0) query.add(path, '$all', others)
}

const FIRST_ID = new Types.ObjectId('0'.repeat(24))
/** Whether a set of ids is not empty. Compares, because an index can serve a comparison and an array that exists can be empty. */
const hasItem = { $gte: FIRST_ID }

type Operator = {
  /** Uses the stored form of the field, not its comparable form. */
  literal?: true
  value: (field: Named, value: unknown, operator: string) => unknown
}

const equality: Operator = { value: equalTo }
const comparison: Operator = {
  value: (field, value, operator) => {
    if (value === null || typeof value === 'object')
      throw new Misfit(`${operator} of ${field.name} takes a single value`)
    return compared(field, value)
  },
}
const membership: Operator = {
  value: (field, value, operator) => {
    if (!Array.isArray(value)) throw new Misfit(`${operator} of ${field.name} takes an array`)
    if (value.length > MAX_ITEMS) throw new Misfit(`${operator} of ${field.name} has more than ${MAX_ITEMS} items`)
    return value.map(item => compared(field, item))
  },
}

const operators: Record<string, Operator> = {
  $eq: equality,
  $ne: equality,
  $gt: comparison,
  $gte: comparison,
  $lt: comparison,
  $lte: comparison,
  $in: membership,
  $nin: membership,
  $all: membership,
  $exists: {
    literal: true,
    value: ({ name }, value) => {
      if (typeof value !== 'boolean') throw new Misfit(`$exists of ${name} must be true or false`)
      return value
    },
  },
  $size: {
    literal: true,
    value: ({ name, isArray, isHiddenSet }, value) => {
      if (!isArray || isHiddenSet || !Number.isInteger(value) || Number(value) < 0) {
        throw new Misfit(`$size of ${name} takes a whole number, and a field that is an array`)
      }
      return value
    },
  },
}

/** Parses `$regex` with its `$options`. A prefix, or plain text in any case, is rewritten to use the index. */
function addPattern(query: Query, field: Named, { $regex, $options = '' }: Doc): void {
  const { name } = field
  if (field.type !== 'string' && field.type !== 'scalar')
    throw new Misfit(`$regex of ${name} takes a field that is text`)
  if ($options !== 'i' && $options !== '') throw new Misfit(`$options of ${name} can only be i`)
  const { source, literal, isPrefix } = readPattern(name, $regex)
  const byKey = field.key && literal !== undefined && $options === 'i' ? field.key : undefined
  const text = byKey && literal !== undefined ? byKey.of(literal) : literal
  const path = byKey?.path ?? field.path
  const isExact = byKey !== undefined || $options === ''
  if (text !== undefined && isPrefix && isExact && field.type === 'string' && !field.isArray) {
    query.add(path, '$gte', text)
    const end = afterPrefix(text)
    if (end !== undefined) query.add(path, '$lt', end)
    return
  }
  query.add(path, '$regex', byKey ? escapeLiteral(text!) : source)
  if (!isExact) query.add(path, '$options', 'i')
}

function ownOperator(key: string): Operator | undefined {
  return Object.hasOwn(operators, key) ? operators[key] : undefined
}

function allowed({ fields, now }: Terms, name: string): Named {
  const field = filterFieldOf(fields, name)
  if (!field) throw new Misfit(`${name} is not a field that can be filtered by`)
  return { ...field, name, now }
}

/** Parses the value of an equality: a whole array for an array field, otherwise a single value. */
function equalTo(field: Named, value: unknown): unknown {
  const { name, isArray, isHiddenSet } = field
  if (!Array.isArray(value)) return compared(field, value)
  if (!isArray || isHiddenSet) throw new Misfit(`${name} is not an array`)
  if (value.length > MAX_ITEMS) throw new Misfit(`${name} has more than ${MAX_ITEMS} items`)
  return value.map(item => compared(field, item))
}

function compared(field: Named, value: unknown): unknown {
  if (value === null && field.isHiddenSet) throw new Misfit(`${field.name} cannot be null: use $exists`)
  const stored = cast(field.name, field.type, value, field.now)
  return field.key && typeof stored === 'string' ? field.key.of(stored) : stored
}

function comparedPath(field: Field): string {
  return field.key?.path ?? field.path
}

/** Collects conditions; two with the same path and operator (`id` and `_id`) are joined by `$and`. */
class Query {
  readonly conditions: Doc = {}

  equals(field: Named, value: unknown): void {
    this.add(comparedPath(field), '$eq', equalTo(field, value))
  }

  add(path: string, operator: string | undefined, value: unknown): void {
    const condition = operator === undefined ? value : operator === '$eq' ? value : { [operator]: value }
    const existing = this.conditions[path]
    if (existing === undefined) this.conditions[path] = condition
    else if (isOperators(existing) && isOperators(condition) && operator && !(operator in existing)) {
      existing[operator] = value
    } else this.and({ [path]: condition })
  }

  private and(condition: Doc): void {
    this.conditions.$and = [...((this.conditions.$and as Doc[] | undefined) ?? []), condition]
  }
}

function isOperators(value: unknown): value is Doc {
  return isPlainObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}
