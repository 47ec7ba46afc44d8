import type { DnsRecord } from '../domains/domain.model.ts'
import type { ProviderKind } from './provider.model.ts'

/** An unchecked DNS record to publish. */
export type RecordDraft = Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority' | 'purpose'>

/** A DKIM key: the record to publish, and the private key (PEM), null if the provider signs. */
export type ProviderKey = { selector: string; record: RecordDraft; privateKey: string | null }

/** The keys and DNS records that a provider requires for a domain. */
export type ProviderDomain = {
  /** DKIM keys; their records are not in the lists below. */
  keys: ProviderKey[]
  /** Other records required to send. */
  sending: RecordDraft[]
  receiving: RecordDraft[]
  recommended: RecordDraft[]
}

/**
 * Manages an organization's domains at a mail provider. Every method throws `provider.*` if the provider rejects
 * the request, and `service.unavailable` if it fails.
 */
export type MailProvider = {
  kind: ProviderKind
  /** Adds a domain, or returns the existing one. `selector` names its first DKIM key. */
  addDomain(domain: string, selector: string): Promise<ProviderDomain>
  /** Whether the provider sends for the domain. It may check DNS itself. */
  confirmDomain(domain: string): Promise<boolean>
  /** Creates another DKIM key; it signs once it is activated. */
  addKey(domain: string, selector: string): Promise<ProviderKey>
  activateKey(domain: string, selector: string): Promise<void>
  /** Removes a domain; idempotent. */
  removeDomain(domain: string): Promise<void>
}
