import { domainToASCII } from 'node:url'
import emailCheck from 'validator/lib/isEmail.js'

/** An email address as stored, and the key for comparing addresses. */
export type Email = { address: string; key: string }

const MAX_LENGTH = 254
const MAX_LOCAL_PART_LENGTH = 64
/** Matches addresses that are certainly valid; the full check takes 30 times as long. */
const PLAIN = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i
/** Refuses invisible characters (control, format, space) and quotes, which can hide a second address. */
const REFUSED_IN_LOCAL_PART = /["\p{Cc}\p{Cf}\p{Z}]/u
/** Characters that a URL parser would decode or read as the end of the domain. */
const OTHER_ASCII = /[^a-z0-9.\-\u0080-\u{10ffff}]/iu
const ASCII = /^[\x20-\x7e]*$/

/**
 * Parses an email address. It is trimmed and has at most 254 characters. The local part is unquoted, has no invisible
 * characters, and is unchanged by NFKC, since it could imitate another address. An international domain becomes ASCII
 * (IDNA). The key is the address in lower case.
 * @returns undefined if the text is not such an address
 */
export function emailOf(text: string): Email | undefined {
  const trimmed = text.trim()
  const address = isPlainEmail(trimmed) ? trimmed : fullyChecked(trimmed)
  return address === undefined ? undefined : { address, key: address.toLowerCase() }
}

/** Whether a text is an email address without surrounding white space. */
export function isEmail(text: string): boolean {
  return text === text.trim() && emailOf(text) !== undefined
}

/** Returns the key of an address. For invalid ones, which old records may hold, returns the lower-case text. */
export function emailKeyOf(text: string): string {
  return emailOf(text)?.key ?? text.trim().toLowerCase()
}

/** Whether a text is an address that is certainly valid by the fast check. Most addresses are. */
export function isPlainEmail(text: string): boolean {
  return text.length <= MAX_LENGTH && text.indexOf('@') <= MAX_LOCAL_PART_LENGTH && PLAIN.test(text)
}

function fullyChecked(text: string): string | undefined {
  // The validator throws for lone surrogates.
  if (text.length > MAX_LENGTH || !text.isWellFormed()) return undefined
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || REFUSED_IN_LOCAL_PART.test(local) || local.normalize('NFKC') !== local) return undefined
  const address = `${local}@${asciiDomain(text.slice(at + 1))}`
  const isValid = address.length <= MAX_LENGTH && emailCheck.default(address, { allow_utf8_local_part: true })
  return isValid ? address : undefined
}

/** Returns a domain in ASCII; '' if it has no such form. */
function asciiDomain(domain: string): string {
  if (ASCII.test(domain)) return domain
  return OTHER_ASCII.test(domain) ? '' : domainToASCII(domain)
}
