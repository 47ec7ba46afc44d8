import { isPublicAddress } from '@rollcall/egress'
import pLimit from 'p-limit'
import { getDomain } from 'tldts'
import { exchange, type Question, type RecordType, type Reply } from './exchange.ts'
import { AliasError, DnsFailure, type FailureKind } from './failure.ts'
import { hedge } from './hedge.ts'
import { canonical, isAskable, isWithin, upwards } from './names.ts'
import {
  failureOf,
  failureOfAuthority,
  type RecordData,
  referral,
  type Step,
  stepOf,
  type Zone,
  zoneOf,
} from './reply.ts'
import type { LocalZone, Server } from './server-address.ts'

/** Options of the resolver; times in milliseconds. */
export type ResolverOptions = {
  /** Recursive resolvers, in order of preference. */
  servers: readonly Server[]
  /** Sends all queries to `servers`; otherwise queries each zone's own servers. */
  only: boolean
  /** Zones that are queried at a server of their own. Default: none. */
  zones?: readonly LocalZone[]
  /** Timeout of a query, over all servers. Default 3,000. */
  questionMs?: number
  /** Delay before the next server is queried as well. Default 600. */
  staggerMs?: number
  /** Concurrent queries per set of lookups. Default 24. */
  concurrency?: number
  /** Maximum queries per set of lookups, to bound hostile zones. Default 300. */
  budget?: number
  /** Port of the zones' own servers. Default 53. */
  authorityPort?: number
  /** Whether zones may have servers in private networks, for tests. Default false. */
  allowPrivate?: boolean
}

/** The answer for a name and type; aliases (CNAME) are followed unless CNAME was queried. */
export type Answer = Omit<Step, 'alias'> & {
  /** The followed aliases, in order. */
  aliases: string[]
}

/** A set of lookups that share results and end together. */
export type Lookups = {
  /**
   * Queries the servers of the record's zone.
   * @throws {DnsFailure} if they do not answer, {AliasError} if the aliases have no target
   */
  ask(name: string, type: RecordType): Promise<Answer>
  /**
   * Queries each server of the name's zone without following aliases. Returns the records by server address, of those
   * that answer; empty if all queries go to resolvers.
   */
  askEach(name: string, type: RecordType): Promise<{ server: string; records: RecordData[] }[]>
  /** Queries recursive resolvers, whose answer may be cached; null if `ask` does so already. */
  askCache: ((name: string, type: RecordType) => Promise<Answer>) | null
}

/** Opens a set of lookups that ends when the signal aborts. */
export type OpenLookups = (signal: AbortSignal) => Lookups

type Ask = (name: string, type: RecordType) => Promise<Step>
type Judge = (reply: Reply) => FailureKind | null
/** Queries servers until the judge accepts a reply. */
type Put = (servers: readonly Server[], question: Question, judge: Judge) => Promise<Reply>
/** A zone's answer and its servers. */
type Found = { step: Step; servers: Server[] }

const MAX_ALIASES = 8
const MAX_CUTS = 16
const MAX_SERVERS = 6
/** Failures by priority: a server's reply counts more than another's timeout. */
const byPriority: FailureKind[] = ['exhausted', 'lame', 'refused', 'servfail', 'malformed', 'unreachable', 'timeout']
const nothing: Step = { records: [], alias: null, exists: false, ttlSeconds: 0, isCached: false }

/** Creates a resolver. */
export function createResolver(options: ResolverOptions): OpenLookups {
  return over => {
    const put = puts(options, over)
    const atZones = zoneAsking(put, options.zones ?? [])
    const askResolver = atZones(resolverAsking(put, options.servers))
    const askCache = (name: string, type: RecordType) => follow(askResolver, name, type)
    if (options.only) return { ask: askCache, askEach: async () => [], askCache: null }
    const find = zoneFinding(put, askResolver, options)
    const askOwn = atZones(async (name, type) => (await find(name, type)).step)
    return {
      ask: (name, type) => follow(askOwn, name, type),
      askEach: async (name, type) => {
        if (localZoneOf(options, canonical(name))) return []
        const { servers } = await find(canonical(name), type)
        const question = { name: canonical(name), type, recursive: false }
        const replies = await Promise.all(servers.map(server => put([server], question, failureOf).catch(() => null)))
        return replies.flatMap((reply, index) => {
          if (!reply?.flag_aa) return []
          return [{ server: servers[index]!.address, records: stepOf(reply, question.name, type).records }]
        })
      },
      askCache,
    }
  }
}

function puts(options: ResolverOptions, over: AbortSignal): Put {
  const { questionMs = 3000, staggerMs = 600, concurrency = 24, budget = 300 } = options
  const limitConcurrency = pLimit(concurrency)
  let left = budget
  return async (servers, question, judge) => {
    if (!isAskable(question.name)) throw new DnsFailure('malformed')
    const limit = AbortSignal.any([over, AbortSignal.timeout(questionMs)])
    const attempt = (server: Server) => async (won: AbortSignal) => {
      if (left <= 0) throw new DnsFailure('exhausted')
      left -= 1
      const reply = await limitConcurrency(() => exchange(server, question, AbortSignal.any([limit, won])))
      const failure = judge(reply)
      if (failure) throw new DnsFailure(failure)
      return reply
    }
    // Two attempts each, because packets get lost.
    const attempts = [...servers, ...servers].map(attempt)
    return hedge(attempts, staggerMs).catch(error => {
      throw new DnsFailure(mostTelling(error))
    })
  }
}

/** Returns what queries the names of local zones at their servers, and all others as before. Names above a zone exist. */
function zoneAsking(put: Put, zones: readonly LocalZone[]): (others: Ask) => Ask {
  const asking = new Map(zones.map(zone => [zone, resolverAsking(put, [zone.server])]))
  return others => async (name, type) => {
    const zone = localZoneOf({ zones }, name)
    const step = await (zone ? asking.get(zone)! : others)(name, type)
    return { ...step, exists: step.exists || zones.some(zone => isWithin(zone.name, name)) }
  }
}

function localZoneOf({ zones = [] }: Pick<ResolverOptions, 'zones'>, name: string): LocalZone | undefined {
  return zones.find(zone => isWithin(name, zone.name))
}

/** Queries recursive resolvers. */
function resolverAsking(put: Put, servers: readonly Server[]): Ask {
  const askOnce = async (name: string, type: RecordType): Promise<Step> =>
    stepOf(await put(servers, { name, type, recursive: true }, failureOf), name, type)
  return remembering(async (name, type) => {
    try {
      return await askOnce(name, type)
    } catch (error) {
      // Resolvers fail for broken alias chains; following them step by step finds the broken one.
      const isWhole = error instanceof DnsFailure && error.kind === 'servfail' && type !== 'CNAME'
      const [alias] = isWhole ? (await askOnce(name, 'CNAME').catch(() => nothing)).records : []
      if (!alias) throw error
      return { ...nothing, exists: true, alias: alias.text }
    }
  })
}

/** Finds the zone of a name from the top down, and its answer. */
function zoneFinding(
  put: Put,
  askResolver: Ask,
  options: ResolverOptions,
): (name: string, type: RecordType) => Promise<Found> {
  const { authorityPort = 53, allowPrivate = false } = options

  const addressesOf = async (host: string): Promise<string[]> => {
    const { records } = await follow(askResolver, host, 'A')
    const found = records.length > 0 ? records : (await follow(askResolver, host, 'AAAA')).records
    return found.map(({ text }) => text)
  }

  const serversOf = async ({ name, hosts, glue }: Zone): Promise<Server[]> => {
    const found = await Promise.all(hosts.map(host => glue.get(host) ?? addressesOf(host).catch(() => [])))
    // Prevents zones from directing queries to the internal network.
    const addresses = found.flat().filter(address => allowPrivate || isPublicAddress(address))
    if (addresses.length === 0) throw new DnsFailure('lame', name, hosts)
    return [...new Set(addresses)].slice(0, MAX_SERVERS).map(address => ({ address, port: authorityPort }))
  }

  /** Returns the nearest parent zone known to resolvers, from which referrals lead down. */
  const startOf = async (name: string): Promise<Zone | null> => {
    const top = getDomain(name, { validateHostname: false })
    for (const candidate of top ? upwards(top) : []) {
      const { records, exists } = await askResolver(candidate, 'NS')
      if (!exists) return null
      if (records.length > 0) return zoneOf(candidate, records)
    }
    return null
  }

  const askIn = async (zone: Zone, servers: readonly Server[], name: string, type: RecordType): Promise<Reply> => {
    const judge: Judge = reply => failureOfAuthority(reply, zone, name)
    return put(servers, { name, type, recursive: false }, judge).catch(error => {
      throw new DnsFailure(error instanceof DnsFailure ? error.kind : 'malformed', zone.name, zone.hosts)
    })
  }

  return remembering(async (name, type) => {
    let zone = await startOf(name)
    for (let cuts = 0; zone && cuts < MAX_CUTS; cuts++) {
      const servers = await serversOf(zone)
      const reply = await askIn(zone, servers, name, type)
      const below = referral(reply, zone, name)
      if (!below) return { step: stepOf(reply, name, type), servers }
      zone = below
    }
    if (zone) throw new DnsFailure('lame', zone.name, zone.hosts)
    return { step: nothing, servers: [] }
  })
}

/** Follows aliases to the final answer. */
async function follow(ask: Ask, name: string, type: RecordType): Promise<Answer> {
  const names = [canonical(name)]
  for (;;) {
    const { alias, ...step } = await ask(names.at(-1)!, type)
    if (type === 'CNAME' || alias === null) return { ...step, aliases: names.slice(1) }
    if (names.includes(alias) || names.length > MAX_ALIASES) throw new AliasError([...names, alias])
    names.push(alias)
  }
}

/** Caches the answers of a set of lookups. */
function remembering<T>(
  ask: (name: string, type: RecordType) => Promise<T>,
): (name: string, type: RecordType) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (name, type) => {
    const key = `${name} ${type}`
    const answer = known.get(key) ?? ask(name, type)
    known.set(key, answer)
    return answer
  }
}

function mostTelling(error: unknown): FailureKind {
  const failures = error instanceof AggregateError ? error.errors : [error]
  const kinds = failures.map(failure => (failure instanceof DnsFailure ? failure.kind : 'malformed'))
  return byPriority.find(kind => kinds.includes(kind)) ?? 'timeout'
}
