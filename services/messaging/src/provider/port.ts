import type { DnsRecord } from '../domains/domain.model.ts'
import type { ProviderKind } from './provider.model.ts'

/** A record to publish, before anyone has looked for it. */
export type RecordDraft = Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority' | 'purpose'>

/** A DKIM key: what has to be published, and what signs, where that is not the provider's own affair. */
export type ProviderKey = { selector: string; record: RecordDraft; privateKey: string | null }

/** A domain as a provider wants it to be published. */
export type ProviderDomain = {
  /** DKIM keys, whose records are not among the others. */
  keys: ProviderKey[]
  /** What has to be published besides, to be allowed to send. */
  sending: RecordDraft[]
  receiving: RecordDraft[]
  recommended: RecordDraft[]
}

/**
 * What a mail provider does for an organization's domains. Every method throws `refused` with a text for the person where
 * the provider says no, and `unavailable` where it does not answer as it should.
 */
export type MailProvider = {
  kind: ProviderKind
  /** Adds a domain, or takes up one that it has already. `selector` names its first DKIM key. */
  addDomain(domain: string, selector: string): Promise<ProviderDomain>
  /** Whether the provider sends for the domain: it may look at DNS itself. */
  confirmDomain(domain: string): Promise<boolean>
  /** Makes one more DKIM key; it signs once it is activated. */
  addKey(domain: string, selector: string): Promise<ProviderKey>
  activateKey(domain: string, selector: string): Promise<void>
  /** Removes a domain; one that it does not have is fine. */
  removeDomain(domain: string): Promise<void>
}
