import { type Client, type Connection, type ConnectOptions, connect, isAddress } from '@rollcall/rpc'

type Credentials = Client<'rollcall.identity.v1.Credentials'>

/** The servers that hold the API tokens of organizations. */
export type TenantServers = {
  /** What resolves the tokens of an organization. */
  of(organizationId: string): Credentials
  close(): void
}

/** Address by organization. */
export type TenantAddresses = ReadonlyMap<string, string>

/**
 * Connects to the tenant servers, each when it is first asked. An organization without one of its own is with `home`.
 */
export function connectTenantServers(
  options: Omit<ConnectOptions, 'address'> & { addresses: TenantAddresses; home: Credentials },
): TenantServers {
  const { addresses, home, ...shared } = options
  const connections = new Map<string, Connection>()
  for (const address of new Set(addresses.values())) connections.set(address, connect({ ...shared, address }))
  return {
    of(organizationId) {
      const address = addresses.get(organizationId.toLowerCase())
      return address === undefined ? home : connections.get(address)!.client('rollcall.identity.v1.Credentials')
    },
    close() {
      for (const connection of connections.values()) connection.close()
    },
  }
}

/**
 * Reads where organizations have their tenant servers: a JSON object of address by organization id, or
 * `<organization id>=<address>` separated by commas. @throws {RangeError} for anything else
 */
export function parseTenantServers(text: string): TenantAddresses {
  const addresses = new Map<string, string>()
  for (const [organization, address] of entriesOf(text.trim())) {
    if (!/^[\da-f]{24}$/i.test(organization)) throw new RangeError('not an organization id')
    if (typeof address !== 'string' || !isAddress(address)) throw new RangeError('not an address')
    if (addresses.has(organization.toLowerCase())) throw new RangeError('an organization named twice')
    addresses.set(organization.toLowerCase(), address)
  }
  return addresses
}

function entriesOf(text: string): [organization: string, address: unknown][] {
  if (text.startsWith('{')) return Object.entries(JSON.parse(text))
  return text.split(',').map(part => {
    const [organization = '', ...address] = part.trim().split('=')
    return [organization, address.join('=')]
  })
}
