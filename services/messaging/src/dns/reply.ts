import type { RecordType, Reply } from './exchange.ts'
import type { FailureKind } from './failure.ts'
import { canonical, isWithin } from './names.ts'

/** One record: the joined text of a TXT, the name that a CNAME, MX or NS leads to, an address. */
export type RecordData = { text: string; priority?: number; ttlSeconds: number }

/** What one reply says of a name and type, with no alias followed. */
export type Step = {
  records: RecordData[]
  /** The alias (CNAME) that stands in their place. */
  alias: string | null
  /** Whether there is anything at all at the name. */
  exists: boolean
  /** How long resolvers may keep this. */
  ttlSeconds: number
  /** Whether it may be older than the zone: a server that keeps answers gave it. */
  isCached: boolean
}

/** A zone: the names of its servers, and the addresses of those that came with them. */
export type Zone = { name: string; hosts: string[]; glue: Map<string, string[]> }

const MAX_HOSTS = 4

/** What a reply says of a name and type: records, an alias instead of them, or nothing. */
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

/** How long "there is none" may be kept (RFC 2308). */
function negativeTtl({ authorities = [] }: Reply): number {
  const soa = authorities.find(({ type }) => type === 'SOA') as { ttl?: number; data: { minimum: number } } | undefined
  return soa ? Math.min(soa.ttl ?? 0, soa.data.minimum) : 0
}

/** How a reply that is no answer failed; null where it is one. */
export function failureOf({ rcode }: Reply): FailureKind | null {
  if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') return null
  return rcode === 'REFUSED' || rcode === 'NOTAUTH' ? 'refused' : 'servfail'
}

/** As `failureOf`, of a server that should know the zone: it has to speak for it, or to name those who do. */
export function failureOfAuthority(reply: Reply, zone: Zone, name: string): FailureKind | null {
  const failure = failureOf(reply)
  if (failure) return failure
  return reply.flag_aa || referral(reply, zone, name) ? null : 'lame'
}

/** The zone further down that a server points to, for a name that is not its own business. */
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
    // Of hosts elsewhere this server cannot know.
    if (!isAddress || !below.hosts.includes(host) || !isWithin(host, zone.name)) continue
    below.glue.set(host, [...(below.glue.get(host) ?? []), dataOf(record).text])
  }
  return below
}

/** A zone and the names of its servers. */
export function zoneOf(name: string, servers: readonly RecordData[]): Zone {
  return { name, hosts: servers.slice(0, MAX_HOSTS).map(({ text }) => text), glue: new Map() }
}
