import { emailOf, parseDate } from '@rollcall/contract'
import { splitTags } from './write.ts'

/** What a cell says, or why it says nothing of its kind. A reason reads on after the column's name. */
export type Value<T> = { value: T; reason?: undefined } | { value?: undefined; reason: string }

const accept = <T>(value: T): Value<T> => ({ value })
const refuse = (reason: string): Value<never> => ({ reason })

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

/** true, false, yes, no, y, n, 1 or 0, in any case. */
export function readBoolean(cell: string): Value<boolean> {
  const value = truths.get(cell.trim().toLowerCase())
  return value === undefined ? refuse('must be true or false, yes or no, 1 or 0') : accept(value)
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** A number with a decimal point, without thousands separators. */
export function readNumber(cell: string): Value<number> {
  const text = cell.trim()
  const value = decimal.test(text) ? Number(text) : Number.NaN
  // -0 has no JSON of its own.
  return Number.isFinite(value) ? accept(value + 0) : refuse('must be a number with a decimal point')
}

/** A date or moment as every API body has it, as an ISO 8601 text in UTC. */
export function readDate(cell: string): Value<string> {
  const date = parseDate(cell.trim())
  return date ? accept(date.toISOString()) : refuse('must be an ISO 8601 date such as 2024-01-31')
}

/** One of the options, in the very spelling. */
export function readOption(cell: string, options: readonly string[]): Value<string> {
  const text = cell.trim()
  return options.includes(text) ? accept(text) : refuse(`must be one of ${options.join(', ')}`)
}

/** Text without the blanks around it. */
export function readText(cell: string, maxLength: number): Value<string> {
  const text = cell.trim()
  return text.length <= maxLength ? accept(text) : refuse(`must be at most ${maxLength} characters`)
}

/** An email address as it is kept. */
export function readEmail(cell: string): Value<string> {
  const email = emailOf(cell)
  return email ? accept(email.address) : refuse('must be an email address')
}

/** Tags joined by `|`: trimmed, blank ones and repetitions dropped, order kept. */
export function readTags(cell: string, { count, length }: { count: number; length: number }): Value<string[]> {
  const tags = [...new Set(splitTags(cell).map(tag => tag.trim()))].filter(tag => tag !== '')
  if (tags.length > count) return refuse(`must be at most ${count} tags`)
  if (tags.some(tag => tag.length > length)) return refuse(`must be tags of at most ${length} characters`)
  return accept(tags)
}
