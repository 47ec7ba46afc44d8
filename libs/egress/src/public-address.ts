import ipaddr from 'ipaddr.js'

/**
 * Whether an address is public: not private, loopback or otherwise special. Users name the servers that this service
 * connects to, and must not direct it to internal ones.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  // Only 2000::/3 of IPv6 is global unicast. Other ranges may embed an IPv4 address or are reserved.
  return parsed.kind() === 'ipv4' || ((parsed as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000
}
