import { AliasError, DnsFailure } from './failure.ts'
import { explain } from './hints.ts'
import { judge } from './judge.ts'
import { canonical } from './names.ts'
import type { RecordData } from './reply.ts'
import type { Answer, Lookups, OpenLookups } from './resolver.ts'
import type { Expected, Verdict } from './verdict.ts'

/** Result of the DNS check of one record. */
export type Finding = { status: Verdict['status']; found: string[]; reason: string | null }

const FOUND_ITEMS = 10
const FOUND_LENGTH = 600
const REASON_LENGTH = 1000

/**
 * Checks records concurrently. Returns for each whether it is published correctly, what was found, and the likely
 * mistake. DNS failures and timeouts are findings with status `error`.
 * @param domain the domain that the records are for
 */
export async function checkRecords(
  open: OpenLookups,
  domain: string,
  records: readonly Expected[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const lookups = open(signal)
  return Promise.all(
    records.map(async record => {
      const expected = { ...record, name: canonical(record.name) }
      return checkRecord(lookups, domain, expected).catch(error => findingOf(failed(error)))
    }),
  )
}

async function checkRecord(lookups: Lookups, domain: string, expected: Expected): Promise<Finding> {
  const answer = await lookups.ask(expected.name, expected.type)
  const verdict = judge(expected, await followed(lookups, expected, answer))
  if (verdict.status === 'ok') {
    const whole =
      (await disagreement(lookups, expected, answer)) ?? (await withStaleness(lookups, expected, answer, verdict))
    return findingOf(whole, answer.records)
  }
  const explained = await explain(lookups, { expected, domain, answer, verdict })
  return findingOf(withCacheTime(explained, answer), answer.records)
}

/** Follows a chain of aliases to the target. */
async function followed(lookups: Lookups, expected: Expected, answer: Answer): Promise<RecordData[]> {
  const [first] = answer.records
  const isElsewhere = expected.type === 'CNAME' && first !== undefined && first.text !== canonical(expected.value)
  if (!isElsewhere) return answer.records
  const names = new Set([expected.name])
  const chain = [...answer.records]
  for (let next: RecordData | undefined = first; next && names.size <= 8; ) {
    if (names.has(next.text)) throw new AliasError([...names, next.text])
    names.add(next.text)
    const further: Answer | null = await lookups.ask(next.text, 'CNAME').catch(() => null)
    next = further?.records[0]
    if (next) chain.push(next)
  }
  return chain
}

/** Reports a conflict if the servers of a zone disagree, because receivers may ask any of them. */
async function disagreement(lookups: Lookups, expected: Expected, answer: Answer): Promise<Verdict | null> {
  if (judge(expected, answer.records).status !== 'ok' || answer.aliases.length > 0) return null
  for (const { server, records } of await lookups.askEach(expected.name, expected.type)) {
    const verdict = judge(expected, records)
    if (verdict.status === 'ok') continue
    const reason = `right at some name servers of the domain, but not yet at ${server}: ${verdict.reason}`
    return { status: verdict.status, reason }
  }
  return null
}

/** Adds a hint if the record is correct at its zone but resolvers still cache an old one. */
async function withStaleness(
  { askCache }: Lookups,
  expected: Expected,
  answer: Answer,
  verdict: Verdict,
): Promise<Verdict> {
  const isDirect = judge(expected, answer.records).status === 'ok'
  const cached = isDirect ? await askCache?.(expected.name, expected.type).catch(() => null) : null
  if (!cached || judge(expected, cached.records).status === 'ok') return verdict
  if (cached.ttlSeconds === 0) return verdict
  const what = cached.records.length > 0 ? 'give the old value' : 'say that there is none'
  return {
    status: 'ok',
    reason: `right at the name servers of the domain, elsewhere DNS may ${what} for up to ${duration(cached.ttlSeconds)}`,
  }
}

function withCacheTime(verdict: Verdict, { isCached, ttlSeconds }: Answer): Verdict {
  if (!isCached || ttlSeconds === 0 || verdict.status === 'ok') return verdict
  const { status, reason } = verdict
  return {
    status,
    reason: `${reason} (as a DNS cache has it, a change may take up to ${duration(ttlSeconds)} to show)`,
  }
}

function findingOf(
  { status, reason = null }: { status: Verdict['status']; reason?: string | null },
  records: readonly RecordData[] = [],
): Finding {
  const found = records.slice(0, FOUND_ITEMS).map(({ text, priority }) => {
    const shown = printable(text).slice(0, FOUND_LENGTH)
    return priority === undefined ? shown : `${priority} ${shown}`
  })
  return { status, found, reason: reason === null ? null : printable(reason).slice(0, REASON_LENGTH) }
}

/** Removes unprintable characters from untrusted text that users see. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

function failed(error: unknown): Verdict {
  if (error instanceof AliasError) {
    const { aliases } = error
    const isCircle = aliases.indexOf(aliases.at(-1)!) < aliases.length - 1
    return {
      status: 'mismatch',
      reason: isCircle
        ? `the aliases (CNAME) lead in a circle: ${aliases.join(' → ')}`
        : `more than ${aliases.length - 2} aliases (CNAME) in a row, nobody follows so many`,
    }
  }
  if (!(error instanceof DnsFailure)) throw error
  return { status: 'error', reason: `${whatFailed(error)}, try again later` }
}

function whatFailed({ kind, zone, servers }: DnsFailure): string {
  const who = zone ? `the name servers of ${zone} (${servers.join(', ')})` : 'the DNS servers'
  switch (kind) {
    case 'exhausted':
      return 'finding out takes more DNS questions than one check may ask'
    case 'timeout':
      return `${who} did not answer in time`
    case 'servfail':
      return `${who} answered that they failed (SERVFAIL)`
    case 'refused':
      return `${who} refused to answer`
    case 'lame':
      return zone ? `${who} do not serve it` : `${who} do not know it`
    case 'unreachable':
      return `${who} cannot be reached`
    case 'malformed':
      return `${who} sent what is no DNS answer`
  }
}

function duration(seconds: number): string {
  const [amount, unit] =
    seconds < 120 ? [seconds, 'second'] : seconds < 7200 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour']
  const whole = Math.ceil(amount)
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`
}
