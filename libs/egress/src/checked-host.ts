import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { within } from '@rollcall/runtime'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from './public-address.ts'
import { systemResolve } from './system-resolve.ts'

/** A host to connect to: its checked addresses, of which `address` is the first, and the name of its certificate. */
export type CheckedHost = { address: string; addresses: readonly string[]; name: string }

/** Thrown for a host or port that is not allowed. The message is for the user who configured it. */
export class UnsafeHost extends Error {
  override name = 'UnsafeHost'
}

/** Returns all addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>

/** Which hosts are allowed. */
export type AddressPolicy = {
  /** Whether private, loopback and other special addresses are allowed, for tests and local servers. */
  allowPrivate: boolean
  /** Whether documentation networks (RFC 5737) are allowed. They are not routed; settings copied from a manual name them. */
  allowExamples?: boolean
  /** Default: DNS, then the hosts file and the search domains of the system. */
  resolve?: Resolve
}

const RESOLVE_MS = 4000
const defaultResolve = systemResolve()

/**
 * Returns a host in canonical form: addresses in their usual notation (0x7f.1 and 2130706433 are 127.0.0.1), names in
 * lower-case ASCII without a trailing dot.
 * @throws {UnsafeHost} for anything else
 */
export function canonicalHost(text: string): string {
  const host = text.trim().replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 6 && !host.includes('%')) return new URL(`http://[${host}]`).hostname.slice(1, -1)
  const url = /[\s:/?#@\\[\]%]/.test(host) ? null : URL.parse(`http://${host}`)
  const name = url?.hostname.replace(/\.$/, '') ?? ''
  const isName = /^[a-z\d_]([a-z\d_-]*[a-z\d_])?(\.[a-z\d_]([a-z\d_-]*[a-z\d_])?)*$/.test(name) && name.length <= 253
  if (!isName) throw new UnsafeHost('not a host name or an IP address')
  return name
}

const examples = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map(block => ipaddr.IPv4.parseCIDR(block))

/** Whether an address is outside of private networks: public, or of a documentation network. */
export function isOutside(address: string): boolean {
  return (
    isPublicAddress(address) || examples.some(block => isIP(address) === 4 && ipaddr.IPv4.parse(address).match(block))
  )
}

/**
 * Resolves a host and checks all its addresses. Connect to the returned addresses, not to the name: it could resolve
 * differently the next time.
 * @throws {UnsafeHost} if an address is not allowed
 * @throws the resolver's error if the name is unknown
 */
export async function resolveHost(host: string, policy: AddressPolicy): Promise<CheckedHost> {
  const name = canonicalHost(host)
  const addresses = isIP(name) ? [name] : await addressesOf(name, policy)
  if (!addresses.every(address => isAllowed(address, policy)))
    throw new UnsafeHost('private, loopback and other special addresses are not allowed')
  const [address] = addresses
  if (address === undefined) throw new UnsafeHost('the name has no address')
  return { address, addresses, name }
}

function isAllowed(address: string, { allowPrivate, allowExamples = false }: AddressPolicy): boolean {
  return allowPrivate || (allowExamples ? isOutside(address) : isPublicAddress(address))
}

/**
 * Checks a host before it is stored. Accepts a name that does not resolve now, because each connection checks again.
 * @throws {UnsafeHost}
 */
export async function checkHost(host: string, policy: AddressPolicy): Promise<void> {
  await resolveHost(host, policy).catch(error => {
    if (error instanceof UnsafeHost) throw error
  })
}

async function addressesOf(name: string, { allowPrivate, resolve = defaultResolve }: AddressPolicy): Promise<string[]> {
  if (!allowPrivate && /(^|\.)localhost$/.test(name)) throw new UnsafeHost('localhost is not allowed')
  const found = await within(RESOLVE_MS, `looking up ${name}`, () => resolve(name))
  return found.map(({ address }) => address)
}
