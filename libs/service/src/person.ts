import { domainToUnicode } from 'node:url'

/** A contact whose data a service shows or erases. */
export type Person = {
  organizationId: string
  contactId: string
  /** The keys of the addresses that it has and had (see `emailKeyOf`). */
  emailKeys: readonly string[]
  names: readonly string[]
  /** Whether a text, or any text in a JSON value, names the person by an address. A JSON text hides it behind escapes. */
  isNamedIn(value: unknown): boolean
  /** Returns a filter of records whose field may name the person; `isNamedIn` tells for sure. Reads every record. */
  mayBeNamedIn(field: string): object
  /**
   * Returns a JSON value without the person: each address in a text, and each text that is one of the names, becomes
   * `[erased]`. Keys and ids stay.
   */
  without<T>(value: T): T
}

/** What replaces an address or a name. */
export const ERASED = '[erased]'

/**
 * Characters that addresses begin with in practice; others before an address separate it, percent-encoded too.
 * Encoded `+`, `-`, `.`, `_` and characters beyond ASCII do not.
 */
const NO_LOCAL_PART = '(?<=^|[^\\p{L}\\p{N}._+-]|%(?!2[BDE]|5F)[0-7][\\dA-F])'
const NO_DOMAIN_PART = '(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])'

/** Returns a person by the keys of the addresses and the names. */
export function personOf({
  organizationId,
  contactId,
  emailKeys,
  names,
}: Pick<Person, 'organizationId' | 'contactId' | 'emailKeys' | 'names'>): Person {
  const spellings = emailKeys.flatMap(spellingsOf).map(escaped)
  const anywhere = spellings.join('|')
  // Whole addresses only: others may end or begin with this one.
  const addresses = new RegExp(`${NO_LOCAL_PART}(?:${anywhere})${NO_DOMAIN_PART}`, 'giu')
  const known = new Set(names.filter(name => name !== '').map(name => name.toLowerCase()))
  const withoutAddresses = (text: string) => (anywhere === '' ? text : text.replace(addresses, ERASED))
  const isNamedIn = (value: unknown): boolean => {
    if (typeof value === 'string') return withoutAddresses(value) !== value
    return typeof value === 'object' && value !== null && Object.entries(value).flat().some(isNamedIn)
  }
  const person: Person = {
    organizationId,
    contactId,
    emailKeys,
    names,
    isNamedIn,
    mayBeNamedIn: field => (anywhere === '' ? { _id: { $in: [] } } : { [field]: { $regex: anywhere, $options: 'i' } }),
    without: value =>
      mapTexts(value, text => (known.has(text.toLowerCase()) ? ERASED : withoutAddresses(text))) as never,
  }
  return person
}

/** Returns how texts write an address: with its domain in ASCII or Unicode, as it is or percent-encoded. */
function spellingsOf(key: string): string[] {
  const at = key.lastIndexOf('@')
  const unicode = `${key.slice(0, at + 1)}${domainToUnicode(key.slice(at + 1)) || key.slice(at + 1)}`
  return [...new Set([key, unicode].flatMap(address => [address, encodeURIComponent(address)]))]
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map(each => mapTexts(each, map))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, map)]))
}
