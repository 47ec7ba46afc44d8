// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, IdRequest, ListRequest } from './types.ts'
/** Sending domains: what has to be published in DNS, and whether it is. */
export type Domains = {
  /** Lists sending domains, newest first. Honours the shared list parameters. */
  listDomains: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** One domain with its records. */
  getDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

export type Domain = {
  /** Lower case, in its ASCII form. */
  domain: string
  /** degraded: verified once, but its records have been wrong for a while; sending goes on. */
  status: 'pending' | 'verified' | 'degraded'
  /** Whether it may send. */
  verified: boolean
  verifiedAt: string
  lastCheckedAt: string
  /** All of them must be published exactly as they are. */
  sendingRecords: DnsRecord[]
  /** Needed only where the domain should receive mail. */
  receivingRecords: DnsRecord[]
  /** Advised, not required: DMARC, tracking. */
  recommendedRecords: DnsRecord[]
  provider: 'self-hosted' | 'mailgun'
  createdBy?: Actor | null
}

export type DnsRecord = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  /** Of an MX record. */
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
  required: boolean
  /** As of the last check: missing (nothing there), mismatch (something else there), conflict (more than one where only one may be), error (DNS gave no answer, which says nothing about the record). */
  status: 'unknown' | 'ok' | 'missing' | 'mismatch' | 'conflict' | 'error'
  /** What DNS answered. */
  found: string[]
  /** What is wrong and the likely cause, for a person. */
  reason: string
  checkedAt: string
}
