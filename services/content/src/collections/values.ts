import { AppError, emailOf, parseDate } from '@rollcall/contract'
import type { Field } from './fields.ts'

/** A value as it is stored; dates as Date. */
export type Value = string | number | boolean | Date

/** The values of an entry by the slug of their field. */
export type Values = Record<string, Value>

/** Returns the path of a value in errors. */
export type PathOf = (slug: string) => string

const MAX_LINE_LENGTH = 1000
const MAX_TEXT_LENGTH = 10_000
const MAX_URL_LENGTH = 2000
const CONTROLS = /[\p{Cc}\u2028\u2029]/u

/**
 * Returns the values of a new entry, with defaults. Null counts as not given; undefined is no value, without a default.
 * Reports missing values first, then unknown fields, then invalid values.
 * @throws {AppError} request.missing_field, request.extra_field, request.invalid_field
 */
export function valuesOf(fields: readonly Field[], given: Record<string, unknown>, pathOf: PathOf): Values {
  const set = new Map(Object.entries(given).filter(([, value]) => value !== null))
  const isMissing = (field: Field) => (set.has(field.slug) ? set.get(field.slug) === undefined : field.default === null)
  const missing = fields.find(field => field.required && isMissing(field))
  if (missing) throw new AppError('request.missing_field', { path: pathOf(missing.slug) })
  refuseUnknown(fields, given, pathOf)
  const values = fields.flatMap((field): [string, Value][] => {
    const { slug } = field
    if (!set.has(slug)) return field.default === null ? [] : [[slug, field.default]]
    const value = set.get(slug)
    return value === undefined ? [] : [[slug, castValue(field, value, pathOf(slug))]]
  })
  return Object.fromEntries(values)
}

/**
 * Returns the values of an entry after a change: merged into the old ones; null removes one.
 * @throws {AppError} as `valuesOf`
 */
export function mergedValues(
  fields: readonly Field[],
  old: Values,
  given: Record<string, unknown>,
  pathOf: PathOf,
): Values {
  const set = new Map(Object.entries(given))
  const removed = fields.find(({ slug, required }) => required && set.get(slug) === null)
  if (removed) throw new AppError('request.missing_field', { path: pathOf(removed.slug) })
  refuseUnknown(fields, given, pathOf)
  const merged = new Map(Object.entries(old))
  for (const field of fields) {
    const { slug } = field
    if (!set.has(slug)) continue
    if (set.get(slug) === null) merged.delete(slug)
    else merged.set(slug, castValue(field, set.get(slug), pathOf(slug)))
  }
  return Object.fromEntries(merged)
}

/** Returns a value as it is stored. @throws {AppError} request.invalid_field */
export function castValue(field: Field, value: unknown, path: string): Value {
  const { accept, reason } = casts[field.type]
  const cast = accept(value, field)
  if (cast === undefined) throw new AppError('request.invalid_field', { path, reason: reason(field) })
  return cast
}

function refuseUnknown(fields: readonly Field[], given: Record<string, unknown>, pathOf: PathOf): void {
  const unknown = Object.keys(given).find(slug => !fields.some(field => field.slug === slug))
  if (unknown !== undefined) throw new AppError('request.extra_field', { path: pathOf(unknown) })
}

type Cast = { accept: (value: unknown, field: Field) => Value | undefined; reason: (field: Field) => string }

const casts: Record<Field['type'], Cast> = {
  string: {
    accept: (value, field) => {
      const line = textOf(value, field, MAX_LINE_LENGTH)
      return line === undefined || CONTROLS.test(line) ? undefined : line
    },
    reason: field => `must be one line of ${lengths(field, MAX_LINE_LENGTH)}`,
  },
  text: {
    accept: (value, field) => textOf(value, field, MAX_TEXT_LENGTH),
    reason: field => `must be a text of ${lengths(field, MAX_TEXT_LENGTH)}`,
  },
  number: {
    // JSON has no -0: stored as 0, so that a value equals its export.
    accept: value => (typeof value === 'number' && Number.isFinite(value) ? value + 0 : undefined),
    reason: () => 'must be a number',
  },
  boolean: {
    accept: value => (typeof value === 'boolean' ? value : undefined),
    reason: () => 'must be true or false',
  },
  date: {
    accept: value => (typeof value === 'string' ? parseDate(value) : undefined),
    reason: () => 'must be an ISO 8601 date',
  },
  enum: {
    accept: (value, { options }) => (typeof value === 'string' && options.includes(value) ? value : undefined),
    reason: ({ options }) => `must be one of ${options.join(', ')}`,
  },
  email: {
    accept: value => (typeof value === 'string' ? emailOf(value)?.address : undefined),
    reason: () => 'must be an email address',
  },
  url: {
    accept: value => (typeof value === 'string' ? webUrlOf(value.trim()) : undefined),
    reason: () => `must be an http or https URL of at most ${MAX_URL_LENGTH} characters`,
  },
}

function textOf(value: unknown, { required }: Field, maxLength: number): string | undefined {
  const text = typeof value === 'string' ? value.trim() : undefined
  return text === undefined || text.length > maxLength || (required && text === '') ? undefined : text
}

function lengths({ required }: Field, maxLength: number): string {
  return `${required ? 'at least one and ' : ''}at most ${maxLength} characters`
}

function webUrlOf(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  return ['http:', 'https:'].includes(new URL(text).protocol) ? text : undefined
}
