import { randomInt } from 'node:crypto'
import { AppError } from '@rollcall/contract'

const SLUG = /^[a-z0-9][a-z0-9-]{2,49}$/
const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz' // none that people confuse
const SLUG_LENGTH = 7

/** Returns the target of a link as WHATWG normalizes it. @throws {AppError} request.invalid_field */
export function normalizeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb) throw invalid('url', 'must be an http or https URL')
  if (url.username || url.password) throw invalid('url', 'must not contain a user name or password')
  return url.href
}

/** Checks a slug that a client chose. @throws {AppError} request.invalid_field */
export function checkSlug(slug: string): void {
  if (!SLUG.test(slug)) {
    throw invalid('slug', 'must be 3 to 50 lower-case letters, digits and hyphens, not starting with a hyphen')
  }
}

/** Returns a random slug. */
export function newSlug(): string {
  return Array.from({ length: SLUG_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

function invalid(path: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path, reason })
}
