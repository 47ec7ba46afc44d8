import { AppError, parseDate } from '@rollcall/contract'

/**
 * Parses the expiry of a new token. Absent or null means never.
 * @throws {AppError} token.expiry_invalid unless it is an ISO 8601 date in the future; dates without a zone are UTC
 */
export function readExpiry(value: unknown, now = Date.now()): Date | null {
  if (value === undefined || value === null) return null
  const date = typeof value === 'string' ? parseDate(value) : undefined
  if (date && date.getTime() > now) return date
  throw new AppError('token.expiry_invalid')
}
