import { isIP } from 'node:net'
import isUrl from 'validator/lib/isURL.js'
import { parseDate } from './date.ts'
import { emailOf } from './email.ts'
import type { FormatName } from './options.ts'

/** A format of texts. */
type Format = {
  /** Returns the normalized text; undefined if it does not match the format. */
  read: (text: string) => string | undefined
  /** Reason in the error text. */
  reason: string
  /** JSON Schema keywords besides `type: string`. */
  schema: { pattern?: string; format?: string; minLength?: number; maxLength?: number }
}

/** Whether a text is a record id: 24 hex digits. */
export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text)
}

const OBJECT_ID = /^[0-9a-f]{24}$/i

const tested = (test: (text: string) => boolean) => (text: string) => (test(text) ? text : undefined)

/** The formats of `rule.format`, for the check of requests and for OpenAPI. */
export const formats: Record<FormatName, Format> = {
  object_id: {
    // One spelling per record: services compare ids as texts.
    read: text => (isObjectId(text) ? text.toLowerCase() : undefined),
    reason: 'must be a 24-character hex id',
    schema: { pattern: '^[0-9a-fA-F]{24}$', minLength: 24, maxLength: 24 },
  },
  email: { read: text => emailOf(text)?.address, reason: 'must be an email address', schema: { format: 'email' } },
  date: {
    read: tested(text => parseDate(text) !== undefined),
    reason: 'must be an ISO 8601 date',
    schema: { format: 'date-time' },
  },
  url: {
    read: tested(text => isUrl.default(text, { require_protocol: true, protocols: ['http', 'https'] })),
    reason: 'must be an http(s) URL',
    schema: { format: 'uri' },
  },
  cidr: {
    read: tested(isAddressOrBlock),
    reason: 'must be an IP address or a CIDR block',
    schema: { pattern: '^[0-9a-fA-F:.]+(/[0-9]{1,3})?$' },
  },
}

/** Whether a text is an IPv4 or IPv6 address without a zone, or a CIDR block: 192.0.2.0/24. */
function isAddressOrBlock(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const bits = { 4: 32, 6: 128 }[isIP(address)]
  if (bits === undefined || address.includes('%') || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
}
