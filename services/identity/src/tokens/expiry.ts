import { AppError, parseDate } from '@rollcall/contract'

/**
 * Reads when a new token is to expire. Absent or null is never.
 * @throws {AppError} bad_request unless it is an ISO 8601 date (UTC where it names no zone) in the future
 */
export function readExpiry(value: unknown, now = Date.now()): Date | null {
  if (value === undefined || value === null) return null
  const date = typeof value === 'string' ? parseDate(value) : undefined
  if (date && date.getTime() > now) return date
  throw new AppError('token.expiry_invalid')
}
