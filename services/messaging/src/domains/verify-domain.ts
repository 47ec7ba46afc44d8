import { AppError, type HttpBody, json } from '@rollcall/contract'
import { type Actor, actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event, type OutgoingEvent } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { MailProvider } from '../provider/port.ts'
import { providerOf } from '../provider/provider-of.ts'
import { type Domain, publicDomain } from './domain.model.ts'
import { faultsOf, type Inspection, inspect, isRecordOf } from './inspect.ts'
import { keepInspection } from './keep-inspection.ts'
import { limitChecks } from './limit-checks.ts'

/**
 * Verifies a domain: upgrades its status if DNS and provider confirm it, and never downgrades it. Stores the findings
 * in both cases.
 * @throws {AppError} domain.records_wrong, naming each record that fails
 */
export async function verifyDomain(context: Context, id: string, call: Call): Promise<HttpBody> {
  const { organizationId } = call.caller
  const domain = await context.collections.of(call.caller.organizationId).domains.get(id, 'domain')
  const provider = await providerFor(context, organizationId, domain)
  await limitChecks(context, domain)
  const inspection = await inspect(context, domain, call)
  const promoted = promote(domain, inspection)
  const faults = faultsOf(promoted.sendingRecords)
  if (faults.length > 0) {
    await keepInspection(context, domain, inspection)
    throw new AppError('domain.records_wrong', { faults })
  }
  await confirm(provider, domain, promoted)
  return json(publicDomain(await raise(context, domain, { ...inspection, ...promoted }, actorOf(call.caller))))
}

/** Returns the provider of the domain; it must still be the organization's. */
async function providerFor(context: Context, organizationId: string, domain: Domain): Promise<MailProvider> {
  const provider = await providerOf(context, organizationId)
  if (provider.kind === domain.provider) return provider
  throw new AppError('domain.other_provider', { added: domain.provider, current: provider.kind })
}

type Promoted = Pick<Domain, 'sendingRecords' | 'dkimKeys'>

/** Activates the next key once its record is published; the old record can then be removed. */
function promote({ dkimKeys }: Domain, { sendingRecords }: Inspection): Promoted {
  const next = dkimKeys.find(({ state }) => state === 'next')
  const isPublished = next && sendingRecords.some(record => isRecordOf(record, next.selector) && record.status === 'ok')
  if (!isPublished) return { sendingRecords, dkimKeys }
  const old = dkimKeys.filter(key => key !== next)
  return {
    sendingRecords: sendingRecords.filter(record => !old.some(({ selector }) => isRecordOf(record, selector))),
    dkimKeys: [{ ...next, state: 'active' }],
  }
}

async function confirm(provider: MailProvider, { domain, dkimKeys }: Domain, promoted: Promoted): Promise<void> {
  const next = dkimKeys.find(({ state }) => state === 'next')
  if (next && promoted.dkimKeys !== dkimKeys) await provider.activateKey(domain, next.selector)
  if (await provider.confirmDomain(domain)) return
  throw new AppError('domain.records_unseen')
}

/** Upgrades the status and publishes the event once per upgrade. */
async function raise(context: Context, domain: Domain, found: Inspection & Promoted, actor: Actor): Promise<Domain> {
  const { store, config } = context
  const organizationId = String(domain.organization)
  const { domains } = context.collections.of(organizationId)
  const { _id, revision } = domain
  const verifiedAt = new Date()
  const monitored = {
    failures: 0,
    failingSince: null,
    nextCheckAt: new Date(verifiedAt.getTime() + config.DOMAIN_CHECK_MS),
  }
  await store.transaction(async tx => {
    const raised = await domains.updateOne(
      { _id, revision, status: { $ne: 'verified' } },
      { $set: { ...found, ...monitored, status: 'verified', verified: true, verifiedAt }, $inc: { revision: 1 } },
      { tx },
    )
    if (raised.matchedCount > 0) return addEvents(tx, [verifiedEvent(domain, verifiedAt, actor)])
    const kept = await domains.updateOne(
      { _id, revision, status: 'verified' },
      { $set: { ...found, ...monitored }, $inc: { revision: 1 } },
      { tx },
    )
    if (kept.matchedCount === 0) throw new AppError('domain.changed')
  })
  return domains.get(String(_id), 'domain')
}

function verifiedEvent({ _id, domain, organization }: Domain, verifiedAt: Date, actor: Actor): OutgoingEvent {
  const data = { domainId: _id, domain, verifiedAt, actor }
  return event('email.domain.verified', { _id, organization }, data, verifiedAt)
}
