import { Schema, type Types } from 'mongoose'
import type { Sealed } from '../secrets.ts'

/** The mail providers there is an adapter for. */
export const providerKinds = ['self-hosted', 'mailgun'] as const
export type ProviderKind = (typeof providerKinds)[number]

/** Where the hosted provider keeps an account. */
export type Region = 'us' | 'eu'

/** The mail provider that an organization chose; without a record it has the installation's default. */
export type Provider = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Null: it was removed, so that not even the default holds. */
  kind: ProviderKind | null
  apiKey: Sealed | null
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
    region: { type: String, enum: ['us', 'eu', null], default: null },
    domain: { type: String, default: null },
  },
  { collection: 'providers', timestamps: true, minimize: false, versionKey: false },
)
providerSchema.index({ organization: 1 }, { unique: true })

/** Where the API key of an organization's provider belongs; see `Secrets`. */
export function apiKeyPlace(organizationId: string | Types.ObjectId): string {
  return `${organizationId}/provider`
}
