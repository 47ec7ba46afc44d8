import type { RecordType, Reply } from './exchange.ts'
import type { FailureKind } from './failure.ts'
import { canonical, isWithin } from './names.ts'

/** One record: the joined text of a TXT, the target of a CNAME, MX or NS, or an address. */
export type RecordData = { text: string; priority?: number; ttlSeconds: number }

/** The content of one reply for a name and type, without following aliases. */
export type Step = {
  records: RecordData[]
  /** The alias (CNAME) in place of records. */
  alias: string | null
  /** Whether the name exists. */
  exists: boolean
  /** How long resolvers may cache this. */
  ttlSeconds: number
  /** Whether the reply came from a cache and may be outdated. */
  isCached: boolean
}

/** A zone with the names of its servers and their glue addresses. */
export type Zone = { name: string; hosts: string[]; glue: Map<string, string[]> }

const MAX_HOSTS = 4

/** Returns the content of a reply for a name and type: records, an alias, or nothing. */
export function stepOf(reply: Reply, name: string, type: RecordType): Step {
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

/** Returns the TTL of a negative answer (RFC 2308). */
function negativeTtl({ authorities = [] }: Reply): number {
  const soa = authorities.find(({ type }) => type === 'SOA') as { ttl?: number; data: { minimum: number } } | undefined
  return soa ? Math.min(soa.ttl ?? 0, soa.data.minimum) : 0
}

/** Returns the failure of a reply; null if it is an answer. */
export function failureOf({ rcode }: Reply): FailureKind | null {
  if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') return null
  return rcode === 'REFUSED' || rcode === 'NOTAUTH' ? 'refused' : 'servfail'
}

/** Like `failureOf`, for a server of the zone: it must answer with authority or refer to a child zone. */
export function failureOfAuthority(reply: Reply, zone: Zone, name: string): FailureKind | null {
  const failure = failureOf(reply)
  if (failure) return failure
  return reply.flag_aa || referral(reply, zone, name) ? null : 'lame'
}

/** Returns the child zone that a server refers to for a name, or null. */
export function referral(reply: Reply, zone: Zone, name: string): Zone | null {
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
    // Addresses of hosts outside the zone are not trusted.
    if (!isAddress || !below.hosts.includes(host) || !isWithin(host, zone.name)) continue
    below.glue.set(host, [...(below.glue.get(host) ?? []), dataOf(record).text])
  }
  return below
}

/** Returns a zone with the names of its servers. */
export function zoneOf(name: string, servers: readonly RecordData[]): Zone {
  return { name, hosts: servers.slice(0, MAX_HOSTS).map(({ text }) => text), glue: new Map() }
}
