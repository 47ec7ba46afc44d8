import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { canonical } from './names.ts'

/** Address of a DNS server. */
export type Server = { address: string; port: number }

const DNS_PORT = 53

/** Parses the address of a DNS server: an IP address, optionally with a port: `192.0.2.1:53` or `[2001:db8::1]:53`. */
export function parseServer(text: string): Server {
  if (isIP(text)) return { address: text, port: DNS_PORT }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const address = bracketed ?? plain ?? ''
  const port = Number(digits)
  if (!isIP(address) || port < 1 || port > 65_535) throw new Error('not the address of a DNS server')
  return { address, port }
}

/** Parses a comma-separated list of at least one address. */
export function parseServers(text: string): Server[] {
  return text.split(',').map(part => parseServer(part.trim()))
}

/** A zone whose names are queried at one server instead of where DNS leads. */
export type LocalZone = { name: string; server: Server }

/** Parses a comma-separated list of zones with their servers: `example.com=127.0.0.1:5353`. */
export function parseZones(text: string): LocalZone[] {
  return text.split(',').map(part => {
    const [, name, server] = /^\s*([a-z0-9_][a-z0-9_.-]*)=(.+?)\s*$/i.exec(part) ?? []
    if (name === undefined || server === undefined) throw new Error('not a zone and its server')
    return { name: canonical(name), server: parseServer(server) }
  })
}

/** Returns the system's DNS servers. */
export function systemServers(): Server[] {
  return getServers().map(parseServer)
}
