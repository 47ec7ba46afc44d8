import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns the canonical form of a client's address: IPv4 for an IPv4-mapped IPv6 address, and without the port that
 * some proxies append. Returns undefined if the text is not an address.
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const bare = text.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare).toString()
}

/**
 * Returns the key that an address is counted by: the IPv4 address, or the /56 of an IPv6 address, as one customer has
 * it.
 */
export function limitKey(address: string): string {
  if (!address.includes(':')) return address
  const network = ipaddr.parse(address).toByteArray().slice(0, 7)
  return `${Buffer.from(network).toString('hex')}/56`
}
