import ipaddr from 'ipaddr.js'

/** Number of bits of an IPv4-mapped address before its IPv4 part. */
const MAPPED_BITS = 96

/** Whether a token with the given `allowedIps` may be used from a normalized address. None allowed means any. */
export function isAllowedAddress(address: string, allowedIps: readonly string[]): boolean {
  return allowedIps.length === 0 || isInBlocks(address, allowedIps)
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
