import ipaddr from 'ipaddr.js'

/**
 * Whether an address is one of the public internet: none that only means something on this machine or its networks.
 * Whoever names the servers that this service is to ask or to deliver to must not lead it elsewhere.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  // Of IPv6 nothing but 2000::/3 is in use; the rest may embed any IPv4 address, or will one day mean something.
  return parsed.kind() === 'ipv4' || ((parsed as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000
}
