import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Number of bits of an IPv4-mapped address before its IPv4 part. */
const MAPPED_BITS = 96

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

/** Whether a normalized address is in one of the blocks: CIDR blocks or single addresses. */
export function isInBlocks(address: string, blocks: readonly string[]): boolean {
  if (address === '') return false
  const parsed = ipaddr.parse(address)
  return blocks.some(block => {
    const [network, prefixLength] = parseBlock(block)
    return network.kind() === parsed.kind() && parsed.match(network, prefixLength)
  })
}

/** Parses a block. A block of IPv4-mapped addresses becomes a block of IPv4. */
function parseBlock(text: string): [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number] {
  const [network, prefixLength] = text.includes('/') ? ipaddr.parseCIDR(text) : single(ipaddr.parse(text))
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && prefixLength >= MAPPED_BITS
  return isMapped ? [network.toIPv4Address(), prefixLength - MAPPED_BITS] : [network, prefixLength]
}

function single(address: ipaddr.IPv4 | ipaddr.IPv6): [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
