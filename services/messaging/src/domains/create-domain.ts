import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { CreateDomainRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event, requireRoom } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { ProviderDomain, ProviderKey, RecordDraft } from '../provider/port.ts'
import { providerOf } from '../provider/provider-of.ts'
import { type DkimKey, type DnsRecord, type Domain, dkimKeyPlace, publicDomain } from './domain.model.ts'
import { parseDomainName } from './domain-name.ts'
import { newSelector } from './selector.ts'

/** Adds a domain at the organization's provider and stores its DNS records; stores nothing if the provider fails. */
export async function createDomain(
  context: Context,
  request: CreateDomainRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const { domains } = context.collections.of(caller.organizationId)
  const domain = parseDomainName(request.domain, 'domain')
  if (await domains.findOne({ domain })) throw new AppError('record.duplicate', { path: 'domain' })
  const quota = { limit: context.config.DOMAINS_PER_ORGANIZATION, what: 'domains per organization' }
  await context.store.transaction(tx => requireRoom(domains, quota, tx)) // before calling the provider
  const provider = await providerOf(context, caller.organizationId)
  const made = await provider.addDomain(domain, newSelector(caller.organizationId, []))
  const place = { organization: domains.organization, domain }
  const draft = {
    domain,
    provider: provider.kind,
    ...recordsOf(domain, made),
    dkimKeys: made.keys.map(key => storedKey(context, place, key, 'active')),
    createdBy: actorOf(caller),
  }
  const created = await context.store.transaction(async tx => {
    await requireRoom(domains, quota, tx)
    const stored = await domains.insertOne(draft, { tx })
    await addEvents(tx, [
      event('email.domain.created', stored, { domain: publicDomain(stored), actor: draft.createdBy }),
    ])
    return stored
  })
  return json(publicDomain(created))
}

/** Returns a DKIM key for storage, with its private key encrypted. */
export function storedKey(
  { secrets }: Pick<Context, 'secrets'>,
  place: Pick<Domain, 'organization' | 'domain'>,
  { selector, privateKey }: ProviderKey,
  state: DkimKey['state'],
): DkimKey {
  return { selector, state, privateKey: privateKey === null ? null : secrets.seal(privateKey, dkimKeyPlace(place)) }
}

/** Returns an unchecked DNS record. */
export function newRecord(draft: RecordDraft, required: boolean): DnsRecord {
  return { ...draft, required, status: 'unknown', found: [], reason: null, checkedAt: null }
}

function recordsOf(domain: string, { keys, sending, receiving, recommended }: ProviderDomain) {
  const asIs = (drafts: readonly RecordDraft[]) => drafts.map(draft => newRecord(draft, false))
  const advice = recommended.some(({ purpose }) => purpose === 'dmarc')
    ? recommended
    : [...recommended, suggestedPolicy(domain)]
  return {
    sendingRecords: [...sending, ...keys.map(({ record }) => record)].map(draft => newRecord(draft, true)),
    receivingRecords: asIs(receiving),
    recommendedRecords: asIs(advice),
  }
}

/** Returns a DMARC policy with reports only, without rejections. */
function suggestedPolicy(domain: string): RecordDraft {
  return { type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', purpose: 'dmarc' }
}
