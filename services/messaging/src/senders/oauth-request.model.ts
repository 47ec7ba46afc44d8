import type { Sealed } from '@rollcall/credentials'
import { Schema, type Types } from 'mongoose'
import type { OauthProvider } from './sender.model.ts'

/** A pending authorization: a user was redirected to a provider to connect a sender's account. */
export type OauthRequest = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** SHA-256 of the `state` parameter. */
  hash: string
  /** PKCE verifier: proves that the code is redeemed by who requested it. */
  verifier: Sealed
  provider: OauthProvider
  sender: Types.ObjectId
  /** The session that started it, and its user. */
  session: string
  user: Types.ObjectId
  expiresAt: Date
}

export const oauthRequestSchema = new Schema<OauthRequest>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    hash: { type: String, required: true },
    verifier: { type: Schema.Types.Mixed, required: true },
    provider: { type: String, required: true },
    sender: { type: Schema.Types.ObjectId, required: true },
    session: { type: String, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'oauth_requests', versionKey: false },
)
// A redirect from a provider has only the state to find the request by.
oauthRequestSchema.index({ hash: 1 }, { unique: true })
oauthRequestSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
