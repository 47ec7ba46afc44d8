import type { Sealed } from '@rollcall/credentials'
import { Schema, type Types } from 'mongoose'

/** Supported mail providers. */
export const providerKinds = ['self-hosted', 'mailgun'] as const
export type ProviderKind = (typeof providerKinds)[number]

/** Region of an account at the hosted provider. */
export type Region = 'us' | 'eu'

/** The mail provider of an organization. Without a record, it has the installation's default. */
export type Provider = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Null if it was removed; the default does not apply then. */
  kind: ProviderKind | null
  apiKey: Sealed | null
  /** Verifies the reports of the hosted provider. */
  webhookSigningKey?: Sealed | null
  region: Region | null
  domain: string | null
  createdAt: Date
  updatedAt: Date
}

export const providerSchema = new Schema<Provider>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    kind: { type: String, enum: [...providerKinds, null], default: null },
    apiKey: { type: Schema.Types.Mixed, default: null },
    webhookSigningKey: { type: Schema.Types.Mixed, default: null },
    region: { type: String, enum: ['us', 'eu', null], default: null },
    domain: { type: String, default: null },
  },
  { collection: 'providers', timestamps: true, minimize: false, versionKey: false },
)
providerSchema.index({ organization: 1 }, { unique: true })

/** Returns the place of an organization's API key; see `Secrets`. */
export function apiKeyPlace(organizationId: string | Types.ObjectId): string {
  return `${organizationId}/provider`
}

/** Returns the place of the key that verifies an organization's reports. */
export function signingKeyPlace(organizationId: string | Types.ObjectId): string {
  return `${organizationId}/provider/webhook`
}
