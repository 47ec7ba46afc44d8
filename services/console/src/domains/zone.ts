import type { DnsRecord } from '@rollcall/sdk'

const MAX_STRING = 255

/** Returns records as lines of a zone file, with absolute names. */
export function zoneFile(records: readonly DnsRecord[]): string {
  return records.map(record => `${record.name}.\tIN\t${record.type}\t${dataOf(record)}`).join('\n')
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
