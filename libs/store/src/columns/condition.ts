import { Types } from 'mongoose'
import { isPlainObject } from '../query/fields.ts'
import type { Scalar } from './column.ts'
import { type ColumnPattern, columnPattern } from './column-pattern.ts'

/** A condition on one field, as MongoDB understands it: an array meets it if one of its items does. */
export type Condition =
  | { kind: 'in'; values: readonly Scalar[] }
  /** For each value one item, or the value itself. */
  | { kind: 'all'; values: readonly Scalar[] }
  | { kind: 'compare'; operator: Comparison; value: NonNullable<Scalar> }
  | { kind: 'pattern'; pattern: ColumnPattern }
  | { kind: 'exists' }
  /** Of arrays, not of their items. */
  | { kind: 'size'; size: number }
  | { kind: 'array'; items: readonly Scalar[] }

export type Comparison = '$gt' | '$gte' | '$lt' | '$lte'

/** A condition on a column. */
export type Leaf = { column: string; condition: Condition }

/** A filter on columns. `unknown` is what they cannot answer. */
export type Expression =
  | { all: readonly Expression[] }
  | { any: readonly Expression[] }
  | { not: Expression }
  | Leaf
  | 'unknown'

type Doc = Record<string, unknown>

/**
 * Compiles a filter on stored fields, of the operators that `parseFilter` makes.
 * @param hasColumn whether a field has a column
 */
export function compileFilter(filter: object, hasColumn: (field: string) => boolean): Expression {
  const parts = Object.entries(filter).map(([name, value]): Expression => {
    const branches = () => (value as Doc[]).map(branch => compileFilter(branch, hasColumn))
    if (name === '$and') return allOf(branches())
    if (name === '$or') return anyOf(branches())
    if (name === '$nor') return { not: anyOf(branches()) }
    return name.startsWith('$') || !hasColumn(name) ? 'unknown' : onField(name, value)
  })
  return parts.length === 1 ? parts[0]! : { all: parts }
}

/** Any of several; values of one field become one condition, because dozens of them would each take a pass. */
function anyOf(parts: readonly Expression[]): Expression {
  const [equal, others] = divide(parts, isIn)
  const byColumn = Map.groupBy(equal, leaf => leaf.column)
  const together = [...byColumn].map(([column, leaves]): Leaf => {
    const values = leaves.flatMap(({ condition }) => condition.values)
    return { column, condition: { kind: 'in', values } }
  })
  return { any: [...others, ...together] }
}

/** All of several; values that they rule out become one condition for each field. */
function allOf(parts: readonly Expression[]): Expression {
  const [unequal, others] = divide(parts, isNotIn)
  return unequal.length < 2 ? { all: parts } : { all: [...others, { not: anyOf(unequal.map(({ not }) => not)) }] }
}

type In = Leaf & { condition: { kind: 'in' } }

function isIn(part: Expression): part is In {
  return part !== 'unknown' && 'column' in part && part.condition.kind === 'in'
}

function isNotIn(part: Expression): part is { not: In } {
  return part !== 'unknown' && 'not' in part && isIn(part.not)
}

function divide<T extends Expression>(
  parts: readonly Expression[],
  is: (part: Expression) => part is T,
): [T[], Expression[]] {
  return [parts.filter(is), parts.filter(part => !is(part))]
}

/** Whether columns rule out or confirm any record: otherwise to read them is of no use. */
export function isAnswered(expression: Expression): boolean {
  if (expression === 'unknown') return false
  if ('all' in expression) return expression.all.some(isAnswered)
  if ('any' in expression) return expression.any.every(isAnswered)
  return 'not' in expression ? isAnswered(expression.not) : true
}

/** Whether an index leads to the few records that can meet the expression: it names values of a field that is unique. */
export function isSelective(expression: Expression, unique: readonly string[]): boolean {
  if (expression === 'unknown') return false
  if ('all' in expression) return expression.all.some(part => isSelective(part, unique))
  if (!('column' in expression) || !unique.includes(expression.column)) return false
  const { condition } = expression
  return (condition.kind === 'in' || condition.kind === 'all') && !condition.values.includes(null)
}

/** The conditions of an expression, in the order of `Expression`. */
export function leavesOf(expression: Expression): Leaf[] {
  if (expression === 'unknown') return []
  if ('all' in expression) return expression.all.flatMap(leavesOf)
  if ('any' in expression) return expression.any.flatMap(leavesOf)
  return 'not' in expression ? leavesOf(expression.not) : [expression]
}

function onField(column: string, value: unknown): Expression {
  const leaf = (condition: Condition | undefined): Expression => (condition ? { column, condition } : 'unknown')
  if (!isOperators(value)) return leaf(equalTo(value))
  const { $regex, $options, ...operators } = value
  const parts = Object.entries(operators).map(([operator, operand]) => onOperator(leaf, column, operator, operand))
  if ($regex !== undefined) parts.push(leaf(matching($regex, $options)))
  return parts.length === 1 ? parts[0]! : { all: parts }
}

function onOperator(
  leaf: (condition: Condition | undefined) => Expression,
  column: string,
  operator: string,
  operand: unknown,
): Expression {
  switch (operator) {
    case '$eq':
      return leaf(equalTo(operand))
    case '$ne':
      return { not: leaf(equalTo(operand)) }
    case '$in':
      return leaf(oneOf(operand))
    case '$nin':
      return { not: leaf(oneOf(operand)) }
    case '$all':
      return everyOf(leaf, operand as unknown[])
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return leaf(isScalar(operand) && operand !== null ? { kind: 'compare', operator, value: operand } : undefined)
    case '$exists':
      return operand === true ? leaf({ kind: 'exists' }) : { not: leaf({ kind: 'exists' }) }
    case '$size':
      return leaf({ kind: 'size', size: operand as number })
    case '$not':
      return { not: onField(column, operand) }
    default:
      return 'unknown'
  }
}

/** One condition for single values: hundreds of them would each take a pass. No value at all is met by no record. */
function everyOf(leaf: (condition: Condition | undefined) => Expression, items: readonly unknown[]): Expression {
  if (items.length === 0) return { any: [] }
  return items.every(isScalar) ? leaf({ kind: 'all', values: items }) : { all: items.map(item => leaf(equalTo(item))) }
}

function equalTo(value: unknown): Condition | undefined {
  if (Array.isArray(value)) return value.every(isScalar) ? { kind: 'array', items: value } : undefined
  return isScalar(value) ? { kind: 'in', values: [value] } : undefined
}

function oneOf(values: unknown): Condition | undefined {
  return Array.isArray(values) && values.every(isScalar) ? { kind: 'in', values } : undefined
}

function matching(source: unknown, options: unknown = ''): Condition | undefined {
  const pattern = typeof source === 'string' ? columnPattern(source, options === 'i') : undefined
  return pattern && { kind: 'pattern', pattern }
}

function isScalar(value: unknown): value is Scalar {
  const isValue = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  return (isValue && !Number.isNaN(value)) || value instanceof Date || value instanceof Types.ObjectId
}

function isOperators(value: unknown): value is Doc {
  return isPlainObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}
