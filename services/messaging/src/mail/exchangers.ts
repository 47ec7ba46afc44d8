import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { AddressPolicy } from '@rollcall/egress'
import { within } from '@rollcall/runtime'
import type { Context } from '../context.ts'
import type { Answer, OpenLookups } from '../dns/resolver.ts'
import { domainOf } from '../senders/sender.model.ts'
import type { Payload } from './compose.ts'
import { DeliveryError, toDeliveryError } from './delivery-error.ts'
import type { SendControl } from './smtp.ts'

const EXCHANGER_PORT = 25
const LOOKUP_MS = 8000
const MAX_EXCHANGERS = 5
/** No further exchanger is tried after this time. */
const MAX_MS = 120_000

/**
 * Sends a mail to the mail exchangers of its recipient's domain, in order of preference, until one accepts or rejects
 * it, may have accepted it, or the mail is held back. Returns the server's reply. The records of a domain must not direct us to our own network.
 * @throws {DeliveryError}
 */
export async function sendToExchangers(
  { lookups, smtp, addressPolicy }: Pick<Context, 'lookups' | 'smtp' | 'addressPolicy'>,
  payload: Payload,
  { port = EXCHANGER_PORT, ...control }: SendControl & { port?: number } = {},
): Promise<string> {
  const domain = domainOf(payload.to)
  const hosts = await exchangersOf(lookups, domain)
  const policy: AddressPolicy = { ...addressPolicy, resolve: host => addressesOf(lookups, host) }
  const end = Date.now() + MAX_MS
  let last: DeliveryError | undefined
  for (const host of hosts) {
    if (last && Date.now() > end) break
    try {
      return await smtp.send({ host, port, secure: false }, payload, policy, control)
    } catch (error) {
      const failure = ofRecipient(toDeliveryError(error), domain)
      if (failure.kind === 'bounced' || failure.mayHaveArrived || failure.isHeldBack) throw failure
      if (last?.kind !== 'transient' || failure.kind === 'transient') last = failure
    }
  }
  throw last
}

/** Commands before the one that names the sender; CONN stands for the greeting. */
const OPENING = ['CONN', 'EHLO', 'HELO']

/**
 * An exchanger that cannot be used is no reason why the sender cannot mail other domains. One that refuses to talk to us
 * may do so later, as for a listed address: it counts as one that does not answer.
 */
function ofRecipient(failure: DeliveryError, domain: string): DeliveryError {
  const { kind, message, mayHaveArrived, isUnreachable, cause } = failure
  if (kind === 'bounced' || failure.isHeldBack) return failure
  if (kind === 'transient') return new DeliveryError(kind, message, { mayHaveArrived, isUnreachable, domain, cause })
  const { command = '' } = (cause ?? {}) as { command?: string }
  if (OPENING.includes(command)) return new DeliveryError('transient', message, { isUnreachable: true, domain, cause })
  return new DeliveryError('failed', message, { isAboutMail: true, cause })
}

/** Returns the mail exchangers of a domain; without any, the domain itself (RFC 5321 §5.1). */
async function exchangersOf(lookups: OpenLookups, domain: string): Promise<string[]> {
  const { records, exists } = await lookUp(lookups, domain, 'MX')
  if (!exists) throw new DeliveryError('bounced', `the domain ${domain} does not exist`, { isBadAddress: true })
  const hosts = records.toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0)).map(({ text }) => text)
  if (hosts.length === 1 && (hosts[0] === '' || hosts[0] === '.')) {
    throw new DeliveryError('bounced', `the domain ${domain} accepts no mail`, { isBadAddress: true })
  }
  return hosts.length > 0 ? hosts.slice(0, MAX_EXCHANGERS) : [domain]
}

async function addressesOf(lookups: OpenLookups, host: string): Promise<LookupAddress[]> {
  const found = await Promise.all([lookUp(lookups, host, 'A'), lookUp(lookups, host, 'AAAA')])
  return found.flatMap(({ records }) => records.map(({ text }) => ({ address: text, family: isIP(text) })))
}

/** Queries resolvers; cached answers are good enough here. */
function lookUp(lookups: OpenLookups, name: string, type: 'MX' | 'A' | 'AAAA'): Promise<Answer> {
  return within(LOOKUP_MS, `looking up ${type} of ${name}`, signal => {
    const { ask, askCache } = lookups(signal)
    return (askCache ?? ask)(name, type)
  })
}
