import { AppError } from '@rollcall/contract'
import type { Sealed, Secrets } from '@rollcall/credentials'
import { secretPlace, type Webhook } from './webhook.model.ts'

const MAX_HEADERS = 10
const MAX_VALUE_LENGTH = 1000
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Headers that the request itself needs, or that direct it (RFC 9110 §7.6.1). */
const RESERVED =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|expect|cookie|user-agent|content-.*|webhook-.*)$/
/** Visible characters, spaces and tabs (RFC 9110 §5.5). */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/

/** Header values by name, in lower case. */
export type HeaderValues = Record<string, string>

/**
 * Returns the headers of a request to create or change an endpoint; null keeps the known value of its name.
 * @throws {AppError} request.invalid_field naming the header
 */
export function readHeaders(given: Record<string, unknown>, known: HeaderValues = {}): HeaderValues {
  const headers: HeaderValues = {}
  for (const [spelt, value] of Object.entries(given)) {
    const name = spelt.toLowerCase()
    const path = `headers.${spelt}`
    if (!NAME.test(name)) throw invalid(path, 'not a header name')
    if (RESERVED.test(name)) throw invalid(path, 'this header is reserved')
    const kept = value === null && Object.hasOwn(known, name) ? known[name] : value
    if (typeof kept !== 'string' || kept.length > MAX_VALUE_LENGTH || !VALUE.test(kept))
      throw invalid(path, `must be 1 to ${MAX_VALUE_LENGTH} printable ASCII characters`)
    headers[name] = kept
  }
  if (Object.keys(headers).length > MAX_HEADERS) throw invalid('headers', `must have at most ${MAX_HEADERS} entries`)
  return headers
}

type Holder = Pick<Webhook, 'organization' | '_id'>

/** Returns the stored form of headers. */
export function sealHeaders(
  secrets: Secrets,
  headers: HeaderValues,
  place: Holder,
): { headers: string[]; headerValues: Sealed | null } {
  const names = Object.keys(headers).sort()
  if (names.length === 0) return { headers: [], headerValues: null }
  return { headers: names, headerValues: secrets.seal(JSON.stringify(headers), secretPlace.headers(place)) }
}

/** Returns the headers of an endpoint with their values. */
export function openHeaders(secrets: Secrets, webhook: Holder & Pick<Webhook, 'headerValues'>): HeaderValues {
  const { headerValues } = webhook
  return headerValues === null ? {} : JSON.parse(secrets.open(headerValues, secretPlace.headers(webhook)))
}

function invalid(path: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path, reason })
}
