import { CONNREFUSED, type LookupAddress, NODATA, NOTFOUND } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import type { Resolve } from './checked-host.ts'

/** Two tries end before the look-up is abandoned: c-ares doubles the time of the second one. */
const DNS = { timeout: 1000, tries: 2 }
const UNKNOWN = [NOTFOUND, NODATA, CONNREFUSED] as unknown[]

/** Options of `systemResolve`, for tests. */
export type SystemResolveOptions = {
  dns?: Pick<Resolver, 'resolve4' | 'resolve6'>
  /** Resolves like other programs of the system: with its hosts file and search domains. */
  lookUp?: Resolve
}

/**
 * Returns a resolver that asks DNS without a thread: a name server that stays silent would keep one of the few that
 * `getaddrinfo` has, and with it all other look-ups. Only names without a dot and names that DNS does not know go to
 * `getaddrinfo`, one at a time: names of the hosts file and of search domains.
 */
export function systemResolve({
  dns = new Resolver(DNS),
  lookUp = name => lookup(name, { all: true }),
}: SystemResolveOptions = {}): Resolve {
  const asked = new Map<string, Promise<LookupAddress[]>>()
  let last: Promise<unknown> = Promise.resolve()
  const lookUpInTurn: Resolve = name => {
    const known = asked.get(name)
    if (known) return known
    const found = last.then(() => lookUp(name)).finally(() => asked.delete(name))
    last = found.catch(() => undefined)
    asked.set(name, found)
    return found
  }
  return async name => {
    const found = name.includes('.') ? await askDns(dns, name) : []
    return found.length > 0 ? found : lookUpInTurn(name)
  }
}

/** Returns the addresses that DNS knows; those of one family if only the other fails. */
async function askDns(dns: Pick<Resolver, 'resolve4' | 'resolve6'>, name: string): Promise<LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
  const found = [addressesOf(ipv4, 4), addressesOf(ipv6, 6)].flat()
  const failed = [ipv4, ipv6].find(each => each.status === 'rejected' && !UNKNOWN.includes(each.reason.code))
  if (found.length === 0 && failed?.status === 'rejected') throw failed.reason
  return found
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map(address => ({ address, family })) : []
}
