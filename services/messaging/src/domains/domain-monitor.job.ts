import { defineJob, type Job } from '@rollcall/jobs'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Domain } from './domain.model.ts'
import { faultsOf, type Inspection, inspect, isRecordOf } from './inspect.ts'
import { keepInspection } from './keep-inspection.ts'

const ROUND_MS = 60_000
const LEASE_MS = 30_000
const DOMAINS_PER_ROUND = 100
const CHECK_MS = 12_000

/** The only item of this job: a round over all organizations, due since its first domain is. */
type Round = { _id: 'round'; dueAt: Date }

/**
 * Checks the DNS records of verified domains, in rounds that one replica at a time runs:
 *
 * 1. Find the domains whose `nextCheckAt` has passed, the longest due first.
 * 2. Claim each by moving its `nextCheckAt`, so that only one replica checks it.
 * 3. Look up its records. Enough consecutive failures over enough time degrade the domain, with an event. DNS timeouts
 *    and errors count neither as failure nor as success. The monitor never verifies a domain.
 *
 * The replica keeps the lease between rounds, so that the interval limits the queries of all replicas together.
 */
export function domainMonitorJob(context: Context): Job {
  const nextRound = async (): Promise<Round | null> => {
    const first = { nextCheckAt: { $lte: new Date() } }
    const due = await context.collections.unscoped.domains
      .findOne(first, { nextCheckAt: 1 })
      .sort({ nextCheckAt: 1 })
      .lean<Domain>()
    return due?.nextCheckAt ? { _id: 'round', dueAt: due.nextCheckAt } : null
  }
  return defineJob({
    name: 'domain-monitor',
    lease: { store: context.store, ttlMs: LEASE_MS },
    pollMs: ROUND_MS,
    backoff: { baseMs: ROUND_MS, maxMs: ROUND_MS },
    unfinished: async () => [await nextRound()].filter(round => round !== null),
    load: nextRound,
    since: ({ dueAt }) => dueAt,
    async run(_round, { signal }) {
      await checkDueDomains(context, new Date(), signal)
      return ROUND_MS
    },
  })
}

/**
 * Runs one round: checks the domains that are due by `now`.
 * @returns the number of domains checked
 * @throws {AggregateError} at the end of the round, if some could not be checked
 */
export async function checkDueDomains(context: Context, now: Date, signal: AbortSignal): Promise<number> {
  const { collections, config } = context
  const due = await collections.unscoped.domains
    .find({ nextCheckAt: { $lte: now } })
    .sort({ nextCheckAt: 1 })
    .limit(DOMAINS_PER_ROUND)
    .lean<Domain[]>()
    .exec()
  const errors: unknown[] = []
  let checked = 0
  for (const domain of due) {
    if (signal.aborted) break
    const nextCheckAt = new Date(now.getTime() + config.DOMAIN_CHECK_MS)
    const { domains } = context.collections.of(domain.organization)
    const claim = { _id: domain._id, nextCheckAt: domain.nextCheckAt }
    const { matchedCount } = await domains.updateOne(claim, { $set: { nextCheckAt } })
    if (matchedCount === 0) continue // concurrently deleted, verified or checked
    await checkDomain(context, domain, now, signal).catch(err => errors.push(err))
    checked += 1
  }
  if (errors.length > 0 && !signal.aborted) throw new AggregateError(errors, `domains not checked: ${errors.length}`)
  return checked
}

async function checkDomain(context: Context, domain: Domain, now: Date, signal: AbortSignal): Promise<void> {
  const inspection = await inspect(context, domain, { deadline: Date.now() + CHECK_MS, signal }, now)
  const signing = signingRecords(domain, inspection)
  const faults = faultsOf(signing.filter(({ status }) => status !== 'error'))
  const isUnknown = faults.length === 0 && signing.some(({ status }) => status === 'error')
  if (isUnknown) return void (await keepInspection(context, domain, inspection)) // no answer says nothing about the records
  const failures = faults.length > 0 ? domain.failures + 1 : 0
  const failingSince = faults.length > 0 ? (domain.failingSince ?? now) : null
  const { DOMAIN_FAILURES, DOMAIN_FAILING_MS } = context.config
  const isLong = failingSince !== null && now.getTime() - failingSince.getTime() >= DOMAIN_FAILING_MS
  if (domain.status === 'verified' && failures >= DOMAIN_FAILURES && isLong)
    await degrade(context, domain, { ...inspection, failures, failingSince }, faults, now)
  else await keepInspection(context, domain, inspection, { failures, failingSince })
}

/** Returns the records that mail depends on now, without those of a DKIM key that does not sign yet. */
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
  const { domains } = context.collections.of(organizationId)
  const data = { domainId: _id, domain, degradedAt: now, reasons }
  const degraded = event('email.domain.degraded', { _id, organization }, data, now)
  await context.store.transaction(async tx => {
    const change = { $set: { ...found, status: 'degraded' as const } }
    const { matchedCount } = await domains.updateOne({ _id, revision, status: 'verified' }, change, { tx })
    if (matchedCount > 0) await addEvents(tx, [degraded])
  })
}
