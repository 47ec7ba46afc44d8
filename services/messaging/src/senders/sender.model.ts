import { domainToASCII } from 'node:url'
import { emailKeyOf } from '@rollcall/contract'
import type { Sealed } from '@rollcall/credentials'
import { senderFields as declared, type SenderJson } from '@rollcall/protos/gen/messaging-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** How the mail of a sender is delivered. */
export type Delivery = 'provider' | 'hosted' | 'smtp' | 'oauth'
/** Providers of mail accounts that can be connected. */
export type OauthProvider = 'google' | 'microsoft'

/** A sender's own mail server. */
export type SenderSmtp = { host: string; port: number; secure: boolean; username: string | null }
/** A sender's own mail account. */
export type SenderOauth = {
  provider: OauthProvider
  email: string | null
  connectedAt: Date | null
  status: 'pending' | 'connected' | 'expired'
}

/** An address that mail is sent from. */
export type Sender = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  /** `email` as entered; `emailKey` for comparison: lower case, domain in ASCII. */
  email: string
  emailKey: string
  replyTo: string | null
  domain: string
  delivery: Delivery
  smtp: SenderSmtp | null
  smtpPassword: Sealed | null
  oauth: SenderOauth | null
  /** The account's tokens, as JSON. */
  oauthTokens: Sealed | null
  isDefault: boolean
  /** Current owner; null if that user is deleted. */
  owner: Types.ObjectId | null
  /** The user who created it and manages sharing. */
  creator: Types.ObjectId
  sharedWith: Types.ObjectId[]
  active: boolean
  createdAt: Date
  updatedAt: Date
}

export const senderSchema = new Schema<Sender>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    replyTo: { type: String, default: null },
    domain: { type: String, required: true },
    delivery: { type: String, enum: ['provider', 'hosted', 'smtp', 'oauth'], required: true },
    smtp: { type: Schema.Types.Mixed, default: null },
    smtpPassword: { type: Schema.Types.Mixed, default: null },
    oauth: { type: Schema.Types.Mixed, default: null },
    oauthTokens: { type: Schema.Types.Mixed, default: null },
    isDefault: { type: Boolean, default: false },
    owner: { type: Schema.Types.ObjectId, default: null },
    creator: { type: Schema.Types.ObjectId, required: true },
    sharedWith: { type: [Schema.Types.ObjectId], default: [] },
    active: { type: Boolean, default: true },
  },
  { collection: 'senders', timestamps: true, minimize: false, versionKey: false },
)
senderSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
// The database refuses a second default.
senderSchema.index({ organization: 1, isDefault: 1 }, { unique: true, partialFilterExpression: { isDefault: true } })

/** Returns the domain of an email address in lower-case ASCII. */
export function domainOf(email: string): string {
  const text = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return domainToASCII(text) || text
}

/** The public fields of a sender, without its password and tokens. */
export const senderFields: FieldTable = {
  ...declared,
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
}

/** Returns a sender as the API shows it. */
export const publicSender = presenter<SenderJson>(senderFields)
