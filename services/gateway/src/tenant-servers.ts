import { type Client, type Connection, type ConnectOptions, connect, isAddress } from '@rollcall/rpc'

type Credentials = Client<'rollcall.identity.v1.Credentials'>

/** Servers that store the API tokens of organizations. */
export type TenantServers = {
  /** Returns the client that resolves the tokens of an organization. */
  of(organizationId: string): Credentials
  close(): void
}

/** Addresses by organization id. */
export type TenantAddresses = ReadonlyMap<string, string>

/**
 * Creates connections to the tenant servers. Each connects at its first call. `home` serves all other organizations.
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
 * Parses the addresses of tenant servers: a JSON object of addresses by organization id, or
 * `<organization id>=<address>` separated by commas.
 * @throws {RangeError} for anything else
 */
export function parseTenantServers(text: string): TenantAddresses {
  const addresses = new Map<string, string>()
  for (const [organization, address] of entriesOf(text.trim())) {
    if (!/^[\da-f]{24}$/i.test(organization)) throw new RangeError('not an organization id')
    if (typeof address !== 'string' || !isAddress(address)) throw new RangeError('not an address')
    if (addresses.has(organization.toLowerCase())) throw new RangeError('a repeated organization')
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
