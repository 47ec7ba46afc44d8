import { createHmac } from 'node:crypto'
import bowser from 'bowser'
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'
import type { CountryOf } from './countries.ts'

/** What a request for a short link reveals of its sender. */
export type Visit = { at: Date; ip: string; userAgent: string; referrer: string }

/** A visit by what it is counted by; null: unknown. */
export type Traits = { referrers: string | null; countries: string | null; devices: string | null }

const MAX_USER_AGENT_LENGTH = 512
const MAX_HOST_LENGTH = 253

/** What a user agent reveals: whether it is a program's, and the kind of device; null: unknown. */
type Agent = { isMachine: boolean; device: string | null }

/** User agents are few; to parse one takes as long as everything else about a visit. Long ones are odd, and not kept. */
const agents = new LRUCache<string, Agent>({ max: 2000, memoMethod: describe })

function agentOf({ userAgent }: Visit): Agent {
  return userAgent.length > MAX_USER_AGENT_LENGTH ? describe(userAgent) : agents.memo(userAgent)
}

function describe(userAgent: string): Agent {
  if (userAgent === '') return { isMachine: true, device: null }
  const { platform } = bowser.parse(userAgent.slice(0, MAX_USER_AGENT_LENGTH))
  return { isMachine: isbot(userAgent), device: platform.type ?? null }
}

/** Whether a program made the visit: a crawler, a scanner of mails, a preview. */
export function isMachine(visit: Visit): boolean {
  return agentOf(visit).isMachine
}

/** Returns what a visit is counted by. */
export function traitsOf(visit: Visit, countryOf: CountryOf | undefined): Traits {
  return {
    referrers: hostOf(visit.referrer),
    countries: countryOf?.(visit.ip) ?? null,
    devices: agentOf(visit).device,
  }
}

/** Returns the hash that stands for a visitor on the day of the salt. */
export function visitorOf({ ip, userAgent }: Visit, salt: string): string {
  return createHmac('sha256', salt).update(`${ip}\n${userAgent}`).digest('base64url').slice(0, 22)
}

function hostOf(referrer: string): string | null {
  if (!URL.canParse(referrer)) return null
  const { hostname } = new URL(referrer)
  return hostname === '' || hostname.length > MAX_HOST_LENGTH ? null : hostname
}
