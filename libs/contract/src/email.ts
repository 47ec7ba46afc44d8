import { domainToASCII } from 'node:url'
import validator from 'validator'

/** An email address: as it is kept, and the key by which it equals others. */
export type Email = { address: string; key: string }

const longest = 254
const longestLocalPart = 64
/** Addresses that are valid beyond doubt; the full check takes 30 times as long. */
const plain = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i
/** Control, format and space characters are invisible; a quoted local part can hold a second address. */
const refusedInLocalPart = /["\p{Cc}\p{Cf}\p{Z}]/u
/** What a URL parser would take for the end of the domain, or decode. */
const otherAscii = /[^a-z0-9.\-\u0080-\u{10ffff}]/iu
const ascii = /^[\x20-\x7e]*$/

/**
 * Reads an email address, by the one rule of the product: trimmed, at most 254 characters, no quoted local part, nothing
 * invisible in it, and no local part that NFKC changes, since it could pass for another. An international domain is kept
 * in ASCII (IDNA). The key is the address in lower case.
 * @returns undefined where the text is no such address
 */
export function emailOf(text: string): Email | undefined {
  const trimmed = text.trim()
  const address = isPlainEmail(trimmed) ? trimmed : fullyChecked(trimmed)
  return address === undefined ? undefined : { address, key: address.toLowerCase() }
}

/** Whether a text is an email address, without white space around it. */
export function isEmail(text: string): boolean {
  return text === text.trim() && emailOf(text) !== undefined
}

/** The key of an address. Of a text that is none, as records of before may hold: its lower-case form. */
export function emailKeyOf(text: string): string {
  return emailOf(text)?.key ?? text.trim().toLowerCase()
}

/** Whether it is one of the many addresses that are valid beyond doubt. */
export function isPlainEmail(text: string): boolean {
  return text.length <= longest && text.indexOf('@') <= longestLocalPart && plain.test(text)
}

function fullyChecked(text: string): string | undefined {
  // The validator throws where half a character stands alone.
  if (text.length > longest || !text.isWellFormed()) return undefined
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || refusedInLocalPart.test(local) || local.normalize('NFKC') !== local) return undefined
  const address = `${local}@${asciiDomain(text.slice(at + 1))}`
  const isValid = address.length <= longest && validator.isEmail(address, { allow_utf8_local_part: true })
  return isValid ? address : undefined
}

/** A domain in ASCII, '' where it has no such form; one that is ASCII stays as it is. */
function asciiDomain(domain: string): string {
  if (ascii.test(domain)) return domain
  return otherAscii.test(domain) ? '' : domainToASCII(domain)
}
