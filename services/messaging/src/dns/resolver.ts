import pLimit from 'p-limit'
import { getDomain } from 'tldts'
import { isPublicAddress } from '../public-address.ts'
import { exchange, type Question, type RecordType, type Reply } from './exchange.ts'
import { AliasError, DnsFailure, type FailureKind } from './failure.ts'
import { hedge } from './hedge.ts'
import { canonical, isAskable, upwards } from './names.ts'
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
import type { Server } from './server-address.ts'

/** How DNS is asked. Times in milliseconds. */
export type ResolverOptions = {
  /** Servers that find out for others, in their order. */
  servers: readonly Server[]
  /** Every question goes to `servers`; else each zone's own servers are asked for its records. */
  only: boolean
  /** For one question, over all servers it is put to. Default 3,000. */
  questionMs?: number
  /** After so long without an answer the next server is asked as well. Default 600. */
  staggerMs?: number
  /** Questions under way at once, of one set of lookups. Default 24. */
  concurrency?: number
  /** Questions put to servers, of one set of lookups: zones must not have us ask without end. Default 300. */
  budget?: number
  /** Port of the zones' own servers. Default 53. */
  authorityPort?: number
  /** Whether zones may name servers in private networks: for tests. Default false. */
  allowPrivate?: boolean
}

/** What DNS says of a name and type; aliases (CNAME) are followed, unless they are what was asked for. */
export type Answer = Omit<Step, 'alias'> & {
  /** The aliases followed, in their order. */
  aliases: string[]
}

/** Questions that belong together: what one of them found out the others know, and all of them end together. */
export type Lookups = {
  /**
   * Asks the servers of the record's own zone, wherever that begins.
   * @throws {DnsFailure} where they do not answer, {AliasError} where aliases lead nowhere
   */
  ask(name: string, type: RecordType): Promise<Answer>
  /**
   * What only the name itself says at each of its zone's servers that answers, by their addresses; none where they are
   * not asked.
   */
  askEach(name: string, type: RecordType): Promise<{ server: string; records: RecordData[] }[]>
  /** Asks as the rest of the world does, whose answer may be an older one; null where that is the only way to ask. */
  askCache: ((name: string, type: RecordType) => Promise<Answer>) | null
}

/** Opens lookups that all end, with or without an answer, once the signal fires. */
export type OpenLookups = (signal: AbortSignal) => Lookups

type Ask = (name: string, type: RecordType) => Promise<Step>
type Judge = (reply: Reply) => FailureKind | null
/** Puts a question to servers until one of them answers in a way that the judge takes. */
type Put = (servers: readonly Server[], question: Question, judge: Judge) => Promise<Reply>
/** What a zone says, and the servers that speak for it. */
type Found = { step: Step; servers: Server[] }

const MAX_ALIASES = 8
const MAX_CUTS = 16
const MAX_SERVERS = 6
/** From the most telling down: what one server says counts more than another's silence. */
const byPriority: FailureKind[] = ['exhausted', 'lame', 'refused', 'servfail', 'malformed', 'unreachable', 'timeout']
const nothing: Step = { records: [], alias: null, exists: false, ttlSeconds: 0, isCached: false }

/** Makes the way in which lookups are done. */
export function createResolver(options: ResolverOptions): OpenLookups {
  return over => {
    const put = puts(options, over)
    const askResolver = resolverAsking(put, options.servers)
    const askCache = (name: string, type: RecordType) => follow(askResolver, name, type)
    if (options.only) return { ask: askCache, askEach: async () => [], askCache: null }
    const find = zoneFinding(put, askResolver, options)
    return {
      ask: (name, type) => follow(async (...question) => (await find(...question)).step, name, type),
      askEach: async (name, type) => {
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
  const turn = pLimit(concurrency)
  let left = budget
  return async (servers, question, judge) => {
    if (!isAskable(question.name)) throw new DnsFailure('malformed')
    const limit = AbortSignal.any([over, AbortSignal.timeout(questionMs)])
    const attempt = (server: Server) => async (won: AbortSignal) => {
      if (left <= 0) throw new DnsFailure('exhausted')
      left -= 1
      const reply = await turn(() => exchange(server, question, AbortSignal.any([limit, won])))
      const failure = judge(reply)
      if (failure) throw new DnsFailure(failure)
      return reply
    }
    // Twice each: packets get lost.
    const attempts = [...servers, ...servers].map(attempt)
    return hedge(attempts, staggerMs).catch(error => {
      throw new DnsFailure(mostTelling(error))
    })
  }
}

/** Asks those that find out for others. */
function resolverAsking(put: Put, servers: readonly Server[]): Ask {
  const askOnce = async (name: string, type: RecordType): Promise<Step> =>
    stepOf(await put(servers, { name, type, recursive: true }, failureOf), name, type)
  return remembering(async (name, type) => {
    try {
      return await askOnce(name, type)
    } catch (error) {
      // Aliases that lead nowhere make them fail as a whole: step by step it can be told where.
      const isWhole = error instanceof DnsFailure && error.kind === 'servfail' && type !== 'CNAME'
      const [alias] = isWhole ? (await askOnce(name, 'CNAME').catch(() => nothing)).records : []
      if (!alias) throw error
      return { ...nothing, exists: true, alias: alias.text }
    }
  })
}

/** Finds the zone of a name by asking from the top down, and what it says. */
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
    // Zones must not make this service ask servers of the network it runs in.
    const addresses = found.flat().filter(address => allowPrivate || isPublicAddress(address))
    if (addresses.length === 0) throw new DnsFailure('lame', name, hosts)
    return [...new Set(addresses)].slice(0, MAX_SERVERS).map(address => ({ address, port: authorityPort }))
  }

  /** The nearest zone above that resolvers know; from there the zones' own servers show the way down. */
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

/** Goes from alias to alias until there are records, or none. */
async function follow(ask: Ask, name: string, type: RecordType): Promise<Answer> {
  const names = [canonical(name)]
  for (;;) {
    const { alias, ...step } = await ask(names.at(-1)!, type)
    if (type === 'CNAME' || alias === null) return { ...step, aliases: names.slice(1) }
    if (names.includes(alias) || names.length > MAX_ALIASES) throw new AliasError([...names, alias])
    names.push(alias)
  }
}

/** Asks a question once, however often it comes up. */
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
