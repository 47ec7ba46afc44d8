import { domainToASCII } from 'node:url'
import { AppError } from '@rollcall/contract'
import { parse } from 'tldts'

/** Leaves room for the prefixes of record names. */
const MAX_LENGTH = 200
const NOT_IN_NAMES = /[\s/\\?#@:%[\]]/
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Returns a domain name for storage: in lower-case ASCII (IDNA), without a trailing dot.
 * @throws {AppError} request.invalid_field at the path, for anything but a registrable name or one below it
 */
export function parseDomainName(text: string, path: string): string {
  const refuse = (reason: string) => new AppError('request.invalid_field', { path, reason })
  // Otherwise the rest of a URL would be dropped silently.
  const name = NOT_IN_NAMES.test(text.trim()) ? '' : domainToASCII(text.trim().replace(/[.。．｡]$/, ''))
  if (!name.split('.').every(label => LABEL.test(label))) throw refuse('is not a domain name')
  if (name.length > MAX_LENGTH) throw refuse(`is longer than ${MAX_LENGTH} characters`)
  const { isIp, isIcann, domain } = parse(name)
  if (isIp) throw refuse('is an IP address')
  if (!isIcann || domain === null) throw refuse('is not a domain that can be registered, nor one below it')
  return name
}
