import { isDeepStrictEqual } from 'node:util'
import { Types } from 'mongoose'

type Doc = Record<string, unknown>

/** For tests: whether a record matches a filter of `parseFilter`, as MongoDB's documentation describes its operators. */
export function matchesPlainly(record: object, filter: object): boolean {
  return Object.entries(filter).every(([name, condition]) => {
    if (name === '$and') return (condition as Doc[]).every(each => matchesPlainly(record, each))
    if (name === '$or') return (condition as Doc[]).some(each => matchesPlainly(record, each))
    if (name === '$nor') return !(condition as Doc[]).some(each => matchesPlainly(record, each))
    const value = name.split('.').reduce<unknown>((inner, key) => (inner as Doc | undefined)?.[key], record)
    return meets(value, condition)
  })
}

function meets(value: unknown, condition: unknown): boolean {
  if (!isOperators(condition)) return equals(value, condition)
  const { $regex, $options, ...operators } = condition
  const isLike = $regex === undefined || some(value, item => like(item, String($regex), $options === 'i' ? 'iu' : 'u'))
  return isLike && Object.entries(operators).every(([operator, operand]) => meetsOperator(value, operator, operand))
}

function meetsOperator(value: unknown, operator: string, operand: unknown): boolean {
  switch (operator) {
    case '$eq':
      return equals(value, operand)
    case '$ne':
      return !equals(value, operand)
    case '$in':
      return (operand as unknown[]).some(item => equals(value, item))
    case '$nin':
      return !(operand as unknown[]).some(item => equals(value, item))
    case '$all':
      return (operand as unknown[]).length > 0 && (operand as unknown[]).every(item => equals(value, item))
    case '$exists':
      return (value !== undefined) === operand
    case '$size':
      return Array.isArray(value) && value.length === operand
    case '$not':
      return !meets(value, operand)
    default:
      return some(value, item => compares(item, operator, operand))
  }
}

/** Whether the value, or an item of it, meets a test. */
function some(value: unknown, test: (item: unknown) => boolean): boolean {
  return test(value) || (Array.isArray(value) && value.some(test))
}

function equals(value: unknown, wanted: unknown): boolean {
  if (wanted === null && value === undefined) return true
  return some(value, item => isDeepStrictEqual(comparable(item), comparable(wanted)))
}

function like(value: unknown, source: string, flags: string): boolean {
  return typeof value === 'string' && new RegExp(source, flags).test(value)
}

/** Only values of one type have an order, in which texts are bytes. */
function compares(value: unknown, operator: string, operand: unknown): boolean {
  const [a, b] = [ordered(value), ordered(operand)]
  if (a === undefined || b === undefined || a.type !== b.type) return false
  const sign = typeof a.key === 'number' ? a.key - (b.key as number) : Buffer.compare(a.key as Buffer, b.key as Buffer)
  if (operator === '$gt') return sign > 0
  if (operator === '$gte') return sign >= 0
  return operator === '$lt' ? sign < 0 : sign <= 0
}

function ordered(value: unknown): { type: string; key: number | Buffer } | undefined {
  if (value instanceof Date) return { type: 'date', key: value.getTime() }
  if (value instanceof Types.ObjectId) return { type: 'id', key: Buffer.from(value.toHexString(), 'hex') }
  if (typeof value === 'string') return { type: 'text', key: Buffer.from(value) }
  if (typeof value === 'number' || typeof value === 'boolean') return { type: typeof value, key: Number(value) }
  return undefined
}

function comparable(value: unknown): unknown {
  if (value instanceof Types.ObjectId) return `id ${value}`
  return Array.isArray(value) ? value.map(comparable) : value
}

function isOperators(value: unknown): value is Doc {
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain && Object.keys(value)[0]?.startsWith('$') === true
}
