import { randomUUID } from 'node:crypto'
import { pause } from '@rollcall/runtime'
import { addEvents, createLease, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Domain } from './domain.model.ts'
import { faultsOf, type Inspection, inspect, isRecordOf } from './inspect.ts'
import { keepInspection } from './keep-inspection.ts'

const ROUND_MS = 60_000
const LEASE_MS = 5 * 60_000
const DOMAINS_PER_ROUND = 100
const CHECK_MS = 12_000

/**
 * Looks after verified domains, one replica at a time: each is looked up now and then, and one whose records have been wrong
 * often enough and for long enough is degraded. Nothing here makes a domain verified.
 */
export function startDomainMonitor(context: Context): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const lease = createLease(context.store, 'domain monitor', randomUUID(), LEASE_MS)
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await lease.acquire()) await checkDueDomains(context, new Date(), stopping.signal)
      } catch (err) {
        context.logger.warn({ err }, 'domains not monitored, trying again')
      }
      await pause(ROUND_MS, stopping.signal)
    }
    await lease.release().catch(() => undefined) // it runs out by itself
  }
  const ended = run()
  return {
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

/** One round: the domains whose turn has come by `now`. Answers how many were looked at. */
export async function checkDueDomains(context: Context, now: Date, signal: AbortSignal): Promise<number> {
  const { models, config, logger } = context
  const due = await models.domains
    .find({ nextCheckAt: { $lte: now } })
    .sort({ nextCheckAt: 1 })
    .limit(DOMAINS_PER_ROUND)
    .lean<Domain[]>()
    .exec()
  let checked = 0
  for (const domain of due) {
    if (signal.aborted) break
    const nextCheckAt = new Date(now.getTime() + config.DOMAIN_CHECK_MS)
    const { domains } = context.of({ organizationId: String(domain.organization) })
    const turn = { _id: domain._id, nextCheckAt: domain.nextCheckAt }
    const { matchedCount } = await domains.updateOne(turn, { $set: { nextCheckAt } })
    if (matchedCount === 0) continue // deleted, verified or looked at meanwhile
    await checkDomain(context, domain, now, signal).catch(err => {
      if (!signal.aborted) logger.warn({ err, domain: domain.domain }, 'domain not checked')
    })
    checked += 1
  }
  return checked
}

async function checkDomain(context: Context, domain: Domain, now: Date, signal: AbortSignal): Promise<void> {
  const inspection = await inspect(context, domain, { deadline: Date.now() + CHECK_MS, signal }, now)
  const signing = signingRecords(domain, inspection)
  const faults = faultsOf(signing.filter(({ status }) => status !== 'error'))
  const isUnknown = faults.length === 0 && signing.some(({ status }) => status === 'error')
  if (isUnknown) return void (await keepInspection(context, domain, inspection)) // silence says nothing about records
  const failures = faults.length > 0 ? domain.failures + 1 : 0
  const failingSince = faults.length > 0 ? (domain.failingSince ?? now) : null
  const { DOMAIN_FAILURES, DOMAIN_FAILING_MS } = context.config
  const isLong = failingSince !== null && now.getTime() - failingSince.getTime() >= DOMAIN_FAILING_MS
  if (domain.status === 'verified' && failures >= DOMAIN_FAILURES && isLong)
    await degrade(context, domain, { ...inspection, failures, failingSince }, faults, now)
  else await keepInspection(context, domain, inspection, { failures, failingSince })
}

/** The records that mail depends on now: a new DKIM key that waits for its own does not sign yet. */
function signingRecords({ dkimKeys }: Domain, { sendingRecords }: Inspection): Inspection['sendingRecords'] {
  const waiting = dkimKeys.filter(({ state }) => state === 'next')
  return sendingRecords.filter(record => !waiting.some(({ selector }) => isRecordOf(record, selector)))
}

async function degrade(
  context: Context,
  { _id, organization, domain, revision }: Domain,
  found: Inspection & Pick<Domain, 'failures' | 'failingSince'>,
  reasons: string[],
  now: Date,
): Promise<void> {
  const organizationId = String(organization)
  const { domains } = context.of({ organizationId })
  const data = { domainId: _id, domain, degradedAt: now, reasons }
  const degraded = event('email.domain.degraded', { _id, organization }, data, now)
  await context.store.transaction(async session => {
    const change = { $set: { ...found, status: 'degraded' as const } }
    const { matchedCount } = await domains.updateOne({ _id, revision, status: 'verified' }, change, { session })
    if (matchedCount > 0) await addEvents(session, [degraded])
  })
}
