/** The mail providers there is an adapter for. */
export type ProviderKind = 'self-hosted' | 'mailgun'
