import { getServers } from 'node:dns'
import { isIP } from 'node:net'

/** Where a DNS server listens. */
export type Server = { address: string; port: number }

const DNS_PORT = 53

/** Reads the address of a DNS server: an IP address, or one with a port, as in `192.0.2.1:53` or `[2001:db8::1]:53`. */
export function parseServer(text: string): Server {
  if (isIP(text)) return { address: text, port: DNS_PORT }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const address = bracketed ?? plain ?? ''
  const port = Number(digits)
  if (!isIP(address) || port < 1 || port > 65_535) throw new Error('not the address of a DNS server')
  return { address, port }
}

/** Reads addresses separated by commas, one at least. */
export function parseServers(text: string): Server[] {
  return text.split(',').map(part => parseServer(part.trim()))
}

/** The servers that the system asks. */
export function systemServers(): Server[] {
  return getServers().map(parseServer)
}
