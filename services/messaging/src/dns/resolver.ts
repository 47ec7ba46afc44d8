import ipaddr from 'ipaddr.js'
import { getDomain } from 'tldts'
import { exchange, type Question, type RecordType, type Reply } from './exchange.ts'
import { AliasError, DnsFailure, type FailureKind } from './failure.ts'
import { hedge } from './hedge.ts'
import { canonical, isAskable, isWithin, upwards } from './names.ts'
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
  /** Port of the zones' own servers. Default 53. */
  authorityPort?: number
  /** Whether zones may name servers in private networks: for tests. Default false. */
  allowPrivate?: boolean
}

/** One record: the joined text of a TXT, the name that a CNAME, MX or NS leads to, an address. */
export type RecordData = { text: string; priority?: number; ttlSeconds: number }

/** What DNS says of a name and type; aliases (CNAME) are followed, unless they are what was asked for. */
export type Answer = {
  records: RecordData[]
  /** The aliases followed, in their order. */
  aliases: string[]
  /** Whether there is anything at all at the name that was asked last. */
  exists: boolean
  /** How long resolvers may keep this answer. */
  ttlSeconds: number
  /** Whether it may be older than the zone: a server that keeps answers gave it. */
  isCached: boolean
}

/** Questions that belong together: what one of them found out the others know, and all of them end together. */
export type Lookups = {
  /**
   * Asks the servers of the record's own zone, wherever that begins.
   * @throws {DnsFailure} where they do not answer, {AliasError} where aliases lead nowhere
   */
  ask(name: string, type: RecordType): Promise<Answer>
  /** Asks as the rest of the world does, whose answer may be an older one; null where that is the only way to ask. */
  askCache: ((name: string, type: RecordType) => Promise<Answer>) | null
}

/** Opens lookups that all end, with or without an answer, once the signal fires. */
export type OpenLookups = (signal: AbortSignal) => Lookups

type Zone = { name: string; hosts: string[]; glue: Map<string, string[]> }
type Step = Omit<Answer, 'aliases'> & { alias: string | null }

const MAX_ALIASES = 8
const MAX_CUTS = 16
const MAX_HOSTS = 4
const MAX_SERVERS = 6
/** From the most telling down: what one server says counts more than another's silence. */
const telling: FailureKind[] = ['lame', 'refused', 'servfail', 'malformed', 'unreachable', 'timeout']

/** Makes the way in which lookups are done. */
export function createResolver(options: ResolverOptions): OpenLookups {
  const { questionMs = 3000, staggerMs = 600, concurrency = 24, authorityPort = 53, allowPrivate = false } = options
  return over => {
    const turn = limiter(concurrency)
    const known = new Map<string, Promise<unknown>>()
    const once = <T>(key: string, find: () => Promise<T>): Promise<T> => {
      const promise = (known.get(key) as Promise<T> | undefined) ?? find()
      known.set(key, promise)
      return promise
    }

    /** Puts a question to servers until one answers in a way that `judge` takes. */
    const put = async (
      servers: readonly Server[],
      question: Question,
      judge: (reply: Reply) => FailureKind | null,
    ): Promise<Reply> => {
      if (!isAskable(question.name)) throw new DnsFailure('malformed')
      const limit = AbortSignal.any([over, AbortSignal.timeout(questionMs)])
      const attempt = (server: Server) => async (won: AbortSignal) => {
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

    const askResolver = (name: string, type: RecordType): Promise<Step> =>
      once(`resolver ${name} ${type}`, async () => {
        const reply = await put(options.servers, { name, type, recursive: true }, failureOf)
        return stepOf(reply, name, type)
      })

    const addressesOf = async (host: string): Promise<string[]> => {
      const { records } = await follow(askResolver, host, 'A')
      const found = records.length > 0 ? records : (await follow(askResolver, host, 'AAAA')).records
      return found.map(({ text }) => text)
    }

    const serversOf = async ({ name, hosts, glue }: Zone): Promise<Server[]> => {
      const found = await Promise.all(
        hosts.map(host => glue.get(host) ?? once(`addresses ${host}`, () => addressesOf(host)).catch(() => [])),
      )
      const addresses = found.flat().filter(address => allowPrivate || isPublic(address))
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

    const askZone = (name: string, type: RecordType): Promise<Step> =>
      once(`zone ${name} ${type}`, async () => {
        let zone = await startOf(name)
        for (let cuts = 0; zone && cuts < MAX_CUTS; cuts++) {
          const current: Zone = zone
          const reply = await put(await serversOf(current), { name, type, recursive: false }, reply =>
            failureOfAuthority(reply, current, name),
          ).catch(error => {
            throw new DnsFailure(error instanceof DnsFailure ? error.kind : 'malformed', current.name, current.hosts)
          })
          zone = referral(reply, current, name)
          if (!zone) return stepOf(reply, name, type)
        }
        if (zone) throw new DnsFailure('lame', zone.name, zone.hosts)
        return { records: [], alias: null, exists: false, ttlSeconds: 0, isCached: false }
      })

    const askCache = (name: string, type: RecordType) => follow(askResolver, name, type)
    if (options.only) return { ask: askCache, askCache: null }
    return { ask: (name, type) => follow(askZone, name, type), askCache }
  }
}

/** Goes from alias to alias until there are records, or none. */
async function follow(
  ask: (name: string, type: RecordType) => Promise<Step>,
  name: string,
  type: RecordType,
): Promise<Answer> {
  const names = [canonical(name)]
  for (;;) {
    const { alias, ...step } = await ask(names.at(-1)!, type)
    if (type === 'CNAME' || alias === null) return { ...step, aliases: names.slice(1) }
    if (names.includes(alias) || names.length > MAX_ALIASES) throw new AliasError([...names, alias])
    names.push(alias)
  }
}

function stepOf(reply: Reply, name: string, type: RecordType): Step {
  const here = (reply.answers ?? []).filter(record => canonical(record.name) === name && isInternet(record))
  const records = here.filter(record => record.type === type).map(dataOf)
  const [alias] = type === 'CNAME' ? [] : here.filter(record => record.type === 'CNAME').map(dataOf)
  const isEmpty = records.length === 0 && !alias
  return {
    records,
    alias: isEmpty || records.length > 0 ? null : canonical(alias!.text),
    exists: reply.rcode !== 'NXDOMAIN' || !isEmpty,
    ttlSeconds: isEmpty ? negativeTtl(reply) : Math.min(...here.map(ttlOf)),
    isCached: !reply.flag_aa,
  }
}

type AnyRecord = NonNullable<Reply['answers']>[number]

function isInternet(record: AnyRecord): boolean {
  return record.type !== 'OPT' && (record as { class?: string }).class === 'IN'
}

function dataOf(record: AnyRecord): RecordData {
  const { data } = record as { data: unknown }
  const ttlSeconds = ttlOf(record)
  if (record.type === 'TXT') return { text: Buffer.concat([data].flat() as Buffer[]).toString('utf8'), ttlSeconds }
  if (record.type !== 'MX') return { text: canonical(String(data)), ttlSeconds }
  const { preference, exchange } = data as { preference: number; exchange: string }
  return { text: canonical(exchange), priority: preference, ttlSeconds }
}

function ttlOf(record: AnyRecord): number {
  return (record as { ttl?: number }).ttl ?? 0
}

/** How long "there is none" may be kept (RFC 2308). */
function negativeTtl({ authorities = [] }: Reply): number {
  const soa = authorities.find(({ type }) => type === 'SOA') as { ttl?: number; data: { minimum: number } } | undefined
  return soa ? Math.min(soa.ttl ?? 0, soa.data.minimum) : 0
}

function failureOf({ rcode }: Reply): FailureKind | null {
  if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') return null
  return rcode === 'REFUSED' || rcode === 'NOTAUTH' ? 'refused' : 'servfail'
}

/** A server that should know the zone has to speak for it, or to name those who do. */
function failureOfAuthority(reply: Reply, zone: Zone, name: string): FailureKind | null {
  const failure = failureOf(reply)
  if (failure) return failure
  return reply.flag_aa || referral(reply, zone, name) ? null : 'lame'
}

/** The zone further down that a server points to, for a name that is not its own business. */
function referral(reply: Reply, zone: Zone, name: string): Zone | null {
  const hasAnswer = (reply.answers ?? []).some(record => canonical(record.name) === name)
  if (hasAnswer || reply.rcode === 'NXDOMAIN') return null
  const servers = (reply.authorities ?? []).filter(({ type }) => type === 'NS')
  const cut = canonical(servers[0]?.name ?? '')
  const isBelow = cut !== zone.name && isWithin(cut, zone.name) && isWithin(name, cut)
  if (!isBelow) return null
  const below = zoneOf(cut, servers.filter(record => canonical(record.name) === cut).map(dataOf))
  for (const record of reply.additionals ?? []) {
    const host = canonical(record.name)
    const isAddress = record.type === 'A' || record.type === 'AAAA'
    // Of hosts elsewhere this server cannot know.
    if (!isAddress || !below.hosts.includes(host) || !isWithin(host, zone.name)) continue
    below.glue.set(host, [...(below.glue.get(host) ?? []), dataOf(record).text])
  }
  return below
}

function zoneOf(name: string, servers: readonly RecordData[]): Zone {
  return { name, hosts: servers.slice(0, MAX_HOSTS).map(({ text }) => text), glue: new Map() }
}

/** Zones must not make this service ask servers of the network it runs in. */
function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'
}

function mostTelling(error: unknown): FailureKind {
  const failures = error instanceof AggregateError ? error.errors : [error]
  const kinds = failures.map(failure => (failure instanceof DnsFailure ? failure.kind : 'malformed'))
  return telling.find(kind => kinds.includes(kind)) ?? 'timeout'
}

/** Runs so many tasks at once; the others wait for their turn. */
function limiter(concurrency: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = concurrency
  return async task => {
    if (free > 0) free -= 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
