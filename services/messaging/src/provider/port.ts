import type { DnsRecord } from '../domains/domain.model.ts'
import type { ProviderKind } from './provider.model.ts'

/** An unchecked DNS record to publish. */
export type RecordDraft = Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority' | 'purpose'>

/** A DKIM key: what has to be published, and what signs, where that is not the provider's own affair. */
export type ProviderKey = { selector: string; record: RecordDraft; privateKey: string | null }

/** The keys and DNS records that a provider requires for a domain. */
export type ProviderDomain = {
  /** DKIM keys; their records are not in the lists below. */
  keys: ProviderKey[]
  /** What has to be published besides, to be allowed to send. */
  sending: RecordDraft[]
  receiving: RecordDraft[]
  recommended: RecordDraft[]
}

/**
 * Manages an organization's domains at a mail provider. Every method throws `refused`, with a text for the user, if the
 * provider rejects the request, and `unavailable` if it fails.
 */
export type MailProvider = {
  kind: ProviderKind
  /** Adds a domain, or returns the existing one. `selector` names its first DKIM key. */
  addDomain(domain: string, selector: string): Promise<ProviderDomain>
  /** Whether the provider sends for the domain: it may look at DNS itself. */
  confirmDomain(domain: string): Promise<boolean>
  /** Creates another DKIM key; it signs once it is activated. */
  addKey(domain: string, selector: string): Promise<ProviderKey>
  activateKey(domain: string, selector: string): Promise<void>
  /** Removes a domain; idempotent. */
  removeDomain(domain: string): Promise<void>
}
