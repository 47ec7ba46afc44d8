import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Of the 128 bits of an IPv4-mapped address, those before its IPv4. */
const mappedBits = 96

/**
 * One spelling for a client's address: an IPv4-mapped IPv6 address is its IPv4, and a port that some proxies write
 * behind it is dropped. undefined where the text is no address.
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const bare = text.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare).toString()
}

/** What an address is counted by: an IPv4 address alone, an IPv6 address with its /56, which is one customer's. */
export function limitKey(address: string): string {
  if (!address.includes(':')) return address
  const network = ipaddr.parse(address).toByteArray().slice(0, 7)
  return `${Buffer.from(network).toString('hex')}/56`
}

/** Whether a normalized address lies in one of the CIDR blocks; a single address is a block of its own. */
export function isInBlocks(address: string, blocks: readonly string[]): boolean {
  if (address === '') return false
  const parsed = ipaddr.parse(address)
  return blocks.some(block => {
    const [network, prefixLength] = parseBlock(block)
    return network.kind() === parsed.kind() && parsed.match(network, prefixLength)
  })
}

/** A block of IPv4-mapped addresses is one of IPv4, as each of them is an IPv4 address. */
function parseBlock(text: string): [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number] {
  const [network, prefixLength] = text.includes('/') ? ipaddr.parseCIDR(text) : single(ipaddr.parse(text))
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && prefixLength >= mappedBits
  return isMapped ? [network.toIPv4Address(), prefixLength - mappedBits] : [network, prefixLength]
}

function single(address: ipaddr.IPv4 | ipaddr.IPv6): [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
