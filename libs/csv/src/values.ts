import { emailOf, parseDate } from '@rollcall/contract'
import { splitTags } from './write.ts'

/** The value of a cell, or why it is invalid. A reason continues the sentence after the column's name. */
export type Value<T> = { value: T; reason?: undefined } | { value?: undefined; reason: string }

const accept = <T>(value: T): Value<T> => ({ value })
const reject = (reason: string): Value<never> => ({ reason })

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['n', false],
  ['0', false],
])

/** Reads true, false, yes, no, y, n, 1 or 0, in any case. */
export function readBoolean(cell: string): Value<boolean> {
  const value = truths.get(cell.trim().toLowerCase())
  return value === undefined ? reject('must be true or false, yes or no, 1 or 0') : accept(value)
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Reads a number with a decimal point and no thousands separators. */
export function readNumber(cell: string): Value<number> {
  const text = cell.trim()
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  // Turns -0 into 0: JSON has no -0.
  return Number.isFinite(value) ? accept(value + 0) : reject('must be a number with a decimal point')
}

/** Reads a date or time in the formats of API bodies. Returns it as ISO 8601 text in UTC. */
export function readDate(cell: string): Value<string> {
  const date = parseDate(cell.trim())
  return date ? accept(date.toISOString()) : reject('must be an ISO 8601 date such as 2024-01-31')
}

/** Reads one of the options; the spelling must match exactly. */
export function readOption(cell: string, options: readonly string[]): Value<string> {
  const text = cell.trim()
  return options.includes(text) ? accept(text) : reject(`must be one of ${options.join(', ')}`)
}

/** Reads a text and trims it. */
export function readText(cell: string, maxLength: number): Value<string> {
  const text = cell.trim()
  return text.length <= maxLength ? accept(text) : reject(`must be at most ${maxLength} characters`)
}

/** Reads an email address in its stored form. */
export function readEmail(cell: string): Value<string> {
  const email = emailOf(cell)
  return email ? accept(email.address) : reject('must be an email address')
}

/** Reads tags joined by `|`: trims them, drops blanks and duplicates, keeps the order. */
export function readTags(cell: string, { count, length }: { count: number; length: number }): Value<string[]> {
  const tags = [...new Set(splitTags(cell).map(tag => tag.trim()))].filter(tag => tag !== '')
  if (tags.length > count) return reject(`must be at most ${count} tags`)
  if (tags.some(tag => tag.length > length)) return reject(`must be tags of at most ${length} characters`)
  return accept(tags)
}
