import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

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

function parseBlock(block: string): [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number] {
  if (block.includes('/')) return ipaddr.parseCIDR(block)
  const address = ipaddr.process(block)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
