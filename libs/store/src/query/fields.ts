import { AppError, isObjectId, parseDate } from '@rollcall/contract'
import { Types } from 'mongoose'

/** The stored type of a field. `scalar` is a text, number or boolean; `object` is a sub-object. */
export type ScalarType = 'string' | 'number' | 'boolean' | 'date' | 'objectId' | 'scalar' | 'object'
export type FieldType = ScalarType | `${ScalarType}[]`

/** A public field that needs more than a name and a type. */
export type FieldSpec = {
  type: FieldType
  /** Its stored path, if that differs from its name; at most one level deep. */
  path?: string
  /** A path with the value in comparable form (an email in lower case), used to compare and sort. */
  key?: { path: string; of: (value: string) => string }
  /**
   * A set of references that is not shown: only filters may name it. Missing and empty are the same; `$exists` means that it
   * has an item.
   */
  isHiddenSet?: true
  /** Made when the record is shown: only projection may name it. */
  isComputed?: true
}

/**
 * The public fields of a record by dotted name: what `filter`, `sort` and `projection` may name. A name that ends in
 * `.*` stands for any one key below it. `_id`, `id`, `createdAt` and `updatedAt` belong to every table.
 */
export type FieldTable = Readonly<Record<string, FieldType | FieldSpec>>

/** A resolved public field. */
export type Field = Pick<FieldSpec, 'key' | 'isHiddenSet' | 'isComputed'> & {
  type: ScalarType
  isArray: boolean
  path: string
}

const common: FieldTable = {
  _id: 'objectId',
  id: { type: 'objectId', path: '_id' },
  createdAt: 'date',
  updatedAt: 'date',
}

/** Returns the shown field of a name, which projection may name; undefined if there is none. */
export function fieldOf(fields: FieldTable, name: string): Field | undefined {
  const field = anyFieldOf(fields, name)
  return field?.isHiddenSet ? undefined : field
}

/** Returns the field that filters may name; undefined if there is none. */
export function filterFieldOf(fields: FieldTable, name: string): Field | undefined {
  const field = anyFieldOf(fields, name)
  return field?.isComputed ? undefined : field
}

function anyFieldOf(fields: FieldTable, name: string): Field | undefined {
  const spec = ownValue(fields, name) ?? ownValue(common, name) ?? wildcard(fields, name)
  if (spec === undefined) return undefined
  const { type, path = name, ...more } = typeof spec === 'string' ? { type: spec } : spec
  const isArray = type.endsWith('[]')
  return { type: (isArray ? type.slice(0, -2) : type) as ScalarType, isArray, path, ...more }
}

function wildcard(fields: FieldTable, name: string): FieldType | FieldSpec | undefined {
  const dot = name.lastIndexOf('.')
  const isPlainKey = /^[\w-]{1,100}$/.test(name.slice(dot + 1)) && !name.endsWith('.__proto__')
  return dot > 0 && isPlainKey ? ownValue(fields, `${name.slice(0, dot)}.*`) : undefined
}

function ownValue<V>(table: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Thrown for a part of a filter that does not fit its field. */
export class Misfit extends Error {}

/**
 * Converts a filter value to its stored form; throws `Misfit` if the field cannot hold it. Null always fits. A date may be
 * relative to `now`: `now`, `now-30d`, `now+12h` (minutes, hours, days, weeks).
 */
export function cast(name: string, type: ScalarType, value: unknown, now: Date): unknown {
  if (value === null) return null
  const result = type === 'date' ? (relativeDate(value, now) ?? casts.date(value)) : casts[type](value)
  if (result === undefined) throw new Misfit(`${name} must be ${nouns[type]}`)
  return result
}

const nouns: Record<ScalarType, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  date: 'an ISO 8601 date, or one like now-30d',
  objectId: 'an id',
  scalar: 'text, a number or a boolean',
  object: 'an object',
}

const casts: Record<ScalarType, (value: unknown) => unknown> = {
  string: value => (isScalar(value) ? String(value) : undefined),
  number: value => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
  },
  boolean: value =>
    typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
  date: value => {
    const date = typeof value === 'number' ? new Date(value) : typeof value === 'string' ? parseDate(value) : undefined
    return date && !Number.isNaN(date.getTime()) ? date : undefined
  },
  objectId: value => (typeof value === 'string' && isObjectId(value) ? new Types.ObjectId(value) : undefined),
  scalar: value => (isScalar(value) ? value : undefined),
  object: value => (isPlainObject(value) && !hasOperator(value) ? value : undefined),
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function relativeDate(value: unknown, now: Date): Date | undefined {
  const [text, sign, count, unit] = /^now(?:([+-])(\d{1,6})([mhdw]))?$/.exec(String(value)) ?? []
  if (text === undefined || typeof value !== 'string') return undefined
  return new Date(now.getTime() + (unit ? Number(`${sign}${count}`) * UNIT_MS[unit]! : 0))
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Whether a value is a JSON object, not an array or null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasOperator(value: object): boolean {
  return Object.entries(value).some(
    ([key, inner]) => key.startsWith('$') || (typeof inner === 'object' && inner !== null && hasOperator(inner)),
  )
}

/** Parses a list parameter that is a JSON object of limited size; throws `request.invalid_field` for anything else. */
export function parseObject(parameter: string, text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === '') return {}
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalidParameter(parameter, 'is larger than 16 KiB')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidParameter(parameter, 'is not JSON')
  }
  if (!isPlainObject(value)) throw invalidParameter(parameter, 'must be an object')
  return value
}

const MAX_BYTES = 16 * 1024

/** Returns the error for a list parameter; the client sees the reason. */
export function invalidParameter(parameter: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path: parameter, reason })
}
