import type { DnsRecord, Domain } from '@rollcall/sdk'

const MAX_STRING = 255
/** Names such as co.uk and com.au, below which domains are registered. */
const SHARED = /^(ac|co|com|edu|gov|ne|net|or|org)\.[a-z]{2}$/

/** Returns records as lines of a zone file, with absolute names. */
export function zoneFile(records: readonly DnsRecord[]): string {
  return records.map(record => `${record.name}.\tIN\t${record.type}\t${dataOf(record)}`).join('\n')
}

/** Returns the zones that may hold the names of a domain, the usual one first: co.uk is nobody's zone. */
export function zonesOf(domain: string): [string, ...string[]] {
  const labels = domain.split('.')
  const zones = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  const [longest = domain, ...shorter] = zones
  const likely = [longest, ...shorter].findLast(zone => !SHARED.test(zone)) ?? longest
  return [likely, ...zones.filter(zone => zone !== likely)]
}

/** Returns a name as it is entered in a zone: `@` stands for the zone itself. */
export function relativeName(name: string, zone: string): string {
  if (name === zone) return '@'
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : `${name}.`
}

/** Returns the record of the DKIM key that signs, and of the one that will; undefined while there is only one. */
export function rotationOf({
  sendingRecords,
}: Pick<Domain, 'sendingRecords'>): { current: DnsRecord; next: DnsRecord } | undefined {
  const [current, next] = sendingRecords.filter(({ purpose }) => purpose === 'dkim')
  return current && next && { current, next }
}

/** Returns the selector of a DKIM record. */
export function selectorOf({ name }: Pick<DnsRecord, 'name'>): string {
  return name.slice(0, name.indexOf('._domainkey'))
}

/** Returns where two values differ first; undefined if they are alike. */
export function firstDifference(wanted: string, found: string): number | undefined {
  const length = Math.max(wanted.length, found.length)
  for (let index = 0; index < length; index++) if (wanted[index] !== found[index]) return index
  return undefined
}

function dataOf({ type, value, priority }: DnsRecord): string {
  if (type === 'TXT')
    return (value.match(new RegExp(`.{1,${MAX_STRING}}`, 'g')) ?? ['']).map(part => `"${part}"`).join(' ')
  const host = value.endsWith('.') ? value : `${value}.`
  return type === 'MX' ? `${priority ?? 10} ${host}` : host
}
