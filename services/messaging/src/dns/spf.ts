import { canonical } from './names.ts'
import { nearMiss } from './near-miss.ts'
import { conflict, mismatch, missing, ok, type Verdict } from './verdict.ts'

/** Maximum terms of an SPF record that need a DNS lookup (RFC 7208 §4.6.4). */
const MAX_LOOKUPS = 10
const LOOKUP_TERM = /^[+\-~?]?(?:include:|a(?:[:/]|$)|mx(?:[:/]|$)|ptr(?::|$)|exists:|redirect=)/i
const ALL_TERM = /^[+\-~?]?all$/i

/**
 * Compares the TXT records of a domain with an SPF record (RFC 7208): there must be exactly one, with the expected
 * includes. Other terms are the domain's choice.
 */
export function judgeSpf(texts: readonly string[], value: string): Verdict {
  const records = texts.filter(isSpf)
  if (records.length > 1) {
    const count = records.length === 2 ? 'two' : records.length
    return conflict(
      `${count} SPF records, receivers then accept none of them: make one of them, "${merged([...records, value])}"`,
    )
  }
  const [record] = records
  if (record) return judgeRecord(record, value)
  const isRight = (candidates: readonly string[]) =>
    candidates.length === 1 && isSpf(candidates[0]!) && judgeRecord(candidates[0]!, value).status === 'ok'
  const reason = nearMiss(texts, value, isRight)
  if (reason) return mismatch(reason)
  return missing(texts.length > 0 ? 'none of the TXT records there is an SPF record' : undefined)
}

function judgeRecord(record: string, value: string): Verdict {
  const terms = termsOf(record)
  const end = terms.findIndex(term => ALL_TERM.test(term))
  for (const wanted of includesOf(value)) {
    const at = terms.findIndex(term => includeOf(term) === wanted)
    if (at < 0) return mismatch(`the SPF record does not include ${wanted}, make it "${merged([record, value])}"`)
    if (/^[-~?]/.test(terms[at]!))
      return mismatch(`"${terms[at]}" turns mail away instead of allowing it, make it "include:${wanted}"`)
    if (end >= 0 && at > end)
      return mismatch(
        `include:${wanted} stands behind "${terms[end]}", where receivers no longer look: move it before that`,
      )
  }
  const lookups = terms.filter(term => LOOKUP_TERM.test(term)).length
  if (lookups > MAX_LOOKUPS)
    return mismatch(
      `the SPF record makes receivers ask DNS ${lookups} times and they stop at ${MAX_LOOKUPS}, remove what is not needed`,
    )
  return ok
}

function isSpf(text: string): boolean {
  return /^v=spf1(?:\s|$)/i.test(text)
}

function termsOf(record: string): string[] {
  return record.trim().split(/\s+/).slice(1)
}

function includeOf(term: string): string | null {
  const [, domain] = /^[+\-~?]?include:(.+)$/i.exec(term) ?? []
  return domain === undefined ? null : canonical(domain)
}

function includesOf(record: string): string[] {
  return termsOf(record).flatMap(term => includeOf(term) ?? [])
}

/** Merges several SPF records into one; its `all` term is the first one found. */
function merged(records: readonly string[]): string {
  const ends = records.map(termsOf).map(terms => terms.find(term => ALL_TERM.test(term)) ?? terms.find(isRedirect))
  const known = new Set<string>()
  const others = records.flatMap(termsOf).filter(term => {
    const key = canonical(term)
    const isNew = !ALL_TERM.test(term) && !isRedirect(term) && !known.has(key)
    known.add(key)
    return isNew
  })
  return ['v=spf1', ...others, ends.find(end => end !== undefined) ?? '~all'].join(' ')
}

function isRedirect(term: string): boolean {
  return /^redirect=/i.test(term)
}
