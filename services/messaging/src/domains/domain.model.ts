import type { Sealed } from '@rollcall/credentials'
import { type DnsRecordJson, type DomainJson, domainFields as declared } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { ProviderKind } from '../provider/provider.model.ts'

/** Bounces of a self-hosted domain go to this subdomain. */
export const BOUNCE_LABEL = 'bounce'

/** A domain that an organization sends mail from. */
export type Domain = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** In lower-case ASCII. */
  domain: string
  status: 'pending' | 'verified' | 'degraded'
  /** Whether it may send: once verified, also while it is degraded. */
  verified: boolean
  verifiedAt: Date | null
  lastCheckedAt: Date | null
  sendingRecords: DnsRecord[]
  receivingRecords: DnsRecord[]
  recommendedRecords: DnsRecord[]
  provider: ProviderKind
  /** DKIM keys; only their selectors if the provider signs. */
  dkimKeys: DkimKey[]
  /** Increases with every change of the records. Results of a check are stored only if it is unchanged. */
  revision: number
  /** Number of senders that use it. A domain in use cannot be deleted. */
  senders: number
  /** Consecutive failures in the monitor, and since when. */
  failures: number
  failingSince: Date | null
  /** When the monitor checks it next; null while the domain is pending. */
  nextCheckAt: Date | null
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

/** A record to publish in DNS, and what the last check found. */
export type DnsRecord = Omit<DnsRecordJson, 'checkedAt'> & { checkedAt: Date | null }

/** A DKIM key: `active` signs, `next` replaces it once its record is published. */
export type DkimKey = {
  selector: string
  state: 'active' | 'next'
  /** PEM, PKCS #8; null if the provider has it. */
  privateKey: Sealed | null
}

const recordSchema = new Schema<DnsRecord>(
  {
    type: { type: String, required: true },
    name: { type: String, required: true },
    value: { type: String, required: true },
    priority: { type: Number },
    purpose: { type: String, required: true },
    required: { type: Boolean, required: true },
    status: { type: String, default: 'unknown' },
    found: { type: [String], default: [] },
    reason: { type: String, default: null },
    checkedAt: { type: Date, default: null },
  },
  { _id: false },
)

export const domainSchema = new Schema<Domain>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    domain: { type: String, required: true },
    status: { type: String, enum: ['pending', 'verified', 'degraded'], default: 'pending' },
    verified: { type: Boolean, default: false },
    verifiedAt: { type: Date, default: null },
    lastCheckedAt: { type: Date, default: null },
    sendingRecords: { type: [recordSchema], default: [] },
    receivingRecords: { type: [recordSchema], default: [] },
    recommendedRecords: { type: [recordSchema], default: [] },
    provider: { type: String, required: true },
    dkimKeys: { type: [Schema.Types.Mixed] as never, default: [] },
    revision: { type: Number, default: 0 },
    senders: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    failingSince: { type: Date, default: null },
    nextCheckAt: { type: Date, default: null },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'domains', timestamps: true, minimize: false, versionKey: false },
)
domainSchema.index({ organization: 1, domain: 1 }, { unique: true })
// The monitor queries due domains of all organizations.
domainSchema.index({ nextCheckAt: 1 })

/** The public fields of a domain. */
export const domainFields: FieldTable = {
  ...declared,
  'sendingRecords.*': 'scalar[]',
  'receivingRecords.*': 'scalar[]',
  'recommendedRecords.*': 'scalar[]',
}

/** Returns a domain as the API shows it. */
export const publicDomain = presenter<DomainJson>(domainFields)

/**
 * Returns the name whose mail comes to this installation: bounces of a self-hosted domain, once its record is found. A
 * verified domain keeps it if the last check got no answer.
 */
export function bounceDomainOf({ provider, domain, status, sendingRecords }: Domain): string | undefined {
  const published = status === 'verified' ? ['ok', 'error'] : ['ok']
  const isPublished = sendingRecords.some(
    record => record.purpose === 'return_path' && published.includes(record.status),
  )
  return provider === 'self-hosted' && isPublished ? `${BOUNCE_LABEL}.${domain}` : undefined
}

/** Returns the place of a domain's private keys; see `Secrets`. */
export function dkimKeyPlace({ organization, domain }: Pick<Domain, 'organization' | 'domain'>): string {
  return `${organization}/domains/${domain}`
}
