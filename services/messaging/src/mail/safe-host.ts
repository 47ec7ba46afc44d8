import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { within } from '@rollcall/runtime'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from '../public-address.ts'

/** A host to connect to: the address that was checked, and the name that its certificate has to carry. */
export type CheckedHost = { address: string; name: string }

/** Why a host or port is not connected to. The message is for whoever configured it. */
export class UnsafeHost extends Error {
  override name = 'UnsafeHost'
}

/** Finds every address of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>

/** Which hosts may be connected to. */
export type AddressPolicy = {
  /** Whether private, loopback and other special addresses are allowed: for tests, and for mail servers next door. */
  allowPrivate: boolean
  /** Default: as the system resolves names, its hosts file included. */
  resolve?: Resolve
}

const RESOLVE_MS = 4000
/** Ports that mail is submitted at; a form to connect to any other would be a port scanner. */
const mailPorts: readonly number[] = [25, 465, 587, 2525]
const systemResolve: Resolve = name => lookup(name, { all: true })

/** @throws {UnsafeHost} for a port that is not one of mail */
export function checkPort(port: number, { allowPrivate }: AddressPolicy): void {
  if (allowPrivate && port > 0 && port < 65_536) return
  if (!mailPorts.includes(port)) throw new UnsafeHost(`port must be one of ${mailPorts.join(', ')}`)
}

/**
 * The host as every program would understand it: addresses in their usual spelling (0x7f.1 and 2130706433 are
 * 127.0.0.1), names in ASCII and lower case, without a final dot.
 * @throws {UnsafeHost} for what is neither
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

/** Networks of examples (RFC 5737): they lead nowhere, so a setting copied from a manual may name them. */
const examples = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map(block => ipaddr.IPv4.parseCIDR(block))

/** Whether an address leads to none of our own networks: it is public, or one of an example. */
export function isOutside(address: string): boolean {
  return (
    isPublicAddress(address) || examples.some(block => isIP(address) === 4 && ipaddr.IPv4.parse(address).match(block))
  )
}

/**
 * Resolves a host once and checks every address it has, so that a connection to the answer goes where was checked.
 * @throws {UnsafeHost} where one is not public; the resolver's error where the name is not known
 */
export async function resolveHost(host: string, policy: AddressPolicy): Promise<CheckedHost> {
  const name = canonicalHost(host)
  const addresses = isIP(name) ? [name] : await addressesOf(name, policy)
  if (!policy.allowPrivate && !addresses.every(isOutside)) {
    throw new UnsafeHost('private, loopback and other special addresses are not allowed')
  }
  const [address] = addresses
  if (address === undefined) throw new UnsafeHost('the name has no address')
  return { address, name }
}

/**
 * Checks a host that is about to be stored. A name that does not resolve now is let through: it is checked again at every
 * connection.
 * @throws {UnsafeHost}
 */
export async function checkHost(host: string, policy: AddressPolicy): Promise<void> {
  await resolveHost(host, policy).catch(error => {
    if (error instanceof UnsafeHost) throw error
  })
}

async function addressesOf(name: string, { allowPrivate, resolve = systemResolve }: AddressPolicy): Promise<string[]> {
  if (!allowPrivate && /(^|\.)localhost$/.test(name)) throw new UnsafeHost('localhost is not allowed')
  const found = await within(RESOLVE_MS, `looking up ${name}`, () => resolve(name))
  return found.map(({ address }) => address)
}
