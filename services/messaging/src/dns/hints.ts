import { randomBytes } from 'node:crypto'
import { getDomain } from 'tldts'
import { judge } from './judge.ts'
import { canonical, isAskable, upwards } from './names.ts'
import type { Answer, Lookups } from './resolver.ts'
import { type Expected, mismatch, missing, type Verdict } from './verdict.ts'

/** An incorrect record and its domain. */
export type Wrong = { expected: Expected; domain: string; answer: Answer; verdict: Verdict }

type Hint = (lookups: Lookups, wrong: Wrong) => Promise<Verdict | null>

/**
 * Adds the likely cause to the verdict of a missing or incorrect record, by checking for common mistakes. Returns the
 * verdict unchanged if no cause is found; failed queries give no hint.
 */
export async function explain(lookups: Lookups, wrong: Wrong): Promise<Verdict> {
  const hints =
    wrong.verdict.status === 'missing' ? missingHints : wrong.verdict.status === 'mismatch' ? wrongHints : []
  const found = await Promise.all(hints.map(hint => hint(lookups, wrong).catch(() => null)))
  return found.find(verdict => verdict !== null) ?? wrong.verdict
}

/** The domain has no name servers at all. */
const noDomain: Hint = async (lookups, { expected }) => {
  const registrable = registrableOf(expected.name)
  const { exists, records } = await lookups.ask(registrable, 'NS')
  return !exists && records.length === 0
    ? missing(`${registrable} does not exist in DNS, it is not registered or has no name servers yet`)
    : null
}

/** The DNS panel appended the domain to a complete name. */
const doubledName: Hint = async (lookups, { expected, domain }) => {
  const { name } = expected
  const at = await firstWhere(zonesAbove(domain), zone => isThere(lookups, expected, `${name}.${zone}`))
  if (at === null) return null
  const short = name === at ? '@' : name.slice(0, -at.length - 1)
  return missing(
    `it was published at ${name}.${at}: the domain is added to names there, so enter "${short}" as the name`,
  )
}

/** The name lacks the subdomain, or has a wrong one. */
const otherLevel: Hint = async (lookups, { expected, domain }) => {
  const { name } = expected
  const prefix = name === domain ? '' : name.slice(0, -domain.length - 1)
  const others = zonesAbove(domain).slice(1)
  const at = await firstWhere(others, parent => isThere(lookups, expected, prefix ? `${prefix}.${parent}` : parent))
  if (at === null || prefix === '') return null
  return missing(`it was published at ${prefix}.${at}, but belongs to ${name}`)
}

/** Some DNS panels remove underscores. */
const noUnderscore: Hint = async (lookups, { expected }) => {
  const bare = expected.name.replaceAll('_', '')
  if (bare === expected.name || !(await isThere(lookups, expected, bare))) return null
  return missing(`it was published at ${bare}, the underscore of ${expected.name} is missing`)
}

/** The value was published as TXT instead of the expected type. */
const otherType: Hint = async (lookups, { expected }) => {
  const { type, name, value, priority } = expected
  if (type === 'TXT') return null
  const { records } = await lookups.ask(name, 'TXT')
  const isValue = records.some(({ text }) =>
    [value, `${priority} ${value}`].map(canonical).includes(canonical(text.trim())),
  )
  return isValue ? mismatch(`it was published as TXT, it has to be ${type}`) : null
}

/** A proxy replaces the alias by its own addresses. */
const proxied: Hint = async (lookups, { expected }) => {
  if (expected.type !== 'CNAME') return null
  const answers = await Promise.all([lookups.ask(expected.name, 'A'), lookups.ask(expected.name, 'AAAA')])
  const [address] = answers.flatMap(({ records }) => records)
  return address
    ? mismatch(
        `an address (${address.text}) answers in place of the CNAME: if the record is proxied, switch it to DNS only`,
      )
    : null
}

/** The parent domain's policy applies to subdomains (RFC 7489 §6.6.3). */
const inherited: Hint = async (lookups, { expected, domain }) => {
  const registrable = registrableOf(domain)
  if (expected.purpose !== 'dmarc' || registrable === domain) return null
  const name = `_dmarc.${registrable}`
  return (await isThere(lookups, expected, name)) ? { status: 'ok', reason: `the policy at ${name} covers it` } : null
}

/** The alias target does not exist. */
const deadAlias: Hint = async (_lookups, { expected, answer }) => {
  const target = answer.aliases.at(-1)
  return target === undefined || answer.records.length > 0
    ? null
    : missing(`the name is an alias (CNAME) of ${target}, and there is no ${expected.type} record`)
}

/** A wildcard record answers for names without records. */
const wildcard: Hint = async (lookups, { expected, domain, answer }) => {
  if (expected.name === domain) return null
  const parent = expected.name.slice(expected.name.indexOf('.') + 1)
  const other = await lookups.ask(`rollcall-${randomBytes(6).toString('hex')}.${parent}`, expected.type)
  const same = new Set(other.records.map(({ text }) => text))
  if (same.size === 0 || !answer.records.every(({ text }) => same.has(text))) return null
  return missing(`not found, what answers is the wildcard record *.${parent} or one above it`)
}

const missingHints: Hint[] = [noDomain, inherited, doubledName, noUnderscore, otherType, proxied, otherLevel, deadAlias]
const wrongHints: Hint[] = [wildcard]

async function isThere(lookups: Lookups, expected: Expected, name: string): Promise<boolean> {
  if (!isAskable(name)) return false
  const { records } = await lookups.ask(name, expected.type)
  return judge({ ...expected, name }, records).status === 'ok'
}

/** Returns the first name that matches, queried concurrently; failed queries do not match. */
async function firstWhere(
  items: readonly string[],
  isTrue: (item: string) => Promise<boolean>,
): Promise<string | null> {
  const answers = await Promise.all(items.map(item => isTrue(item).catch(() => false)))
  return items[answers.indexOf(true)] ?? null
}

function registrableOf(name: string): string {
  return getDomain(name, { validateHostname: false }) ?? name
}

/** Returns the domain and its parents of the same owner; if there are many, those where zones usually start. */
function zonesAbove(domain: string): string[] {
  const { length } = registrableOf(domain)
  const zones = upwards(domain).filter(zone => zone.length >= length)
  return zones.length <= 4 ? zones : [...zones.slice(0, 2), ...zones.slice(-2)]
}
