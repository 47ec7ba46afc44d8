import { AppError } from '@rollcall/rpc'

const isoDate = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/
const hasZone = /(Z|[+-]\d\d:?\d\d)$/

/**
 * Reads when a new token is to expire: JSON of any type as text. Absent or null is never.
 * @throws {AppError} bad_request unless it is an ISO 8601 date (UTC where it names no zone) in the future
 */
export function readExpiry(text: string | undefined, now = Date.now()): Date | null {
  const value: unknown = text === undefined ? null : JSON.parse(text)
  if (value === null) return null
  const date = typeof value === 'string' ? readDate(value) : undefined
  if (date && date.getTime() > now) return date
  throw new AppError('bad_request', { message: 'expiresAt must be a valid future date.', path: 'expiresAt' })
}

function readDate(text: string): Date | undefined {
  const [, day, time] = isoDate.exec(text) ?? []
  if (day === undefined || !isCalendarDay(day)) return undefined
  const date = new Date(time === undefined || hasZone.test(time) ? text : `${text}Z`)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** The 31st of February parses, as a day in March. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
