import { Schema, type Types } from 'mongoose'
import type { Sealed } from '../secrets.ts'
import type { OauthProvider } from './sender.model.ts'

/** A person on their way to a provider to let a sender use an account there. */
export type OauthRequest = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** SHA-256 of the state that travels with the person. */
  hash: string
  /** What proves that whoever redeems the code is who asked for it (PKCE). */
  verifier: Sealed
  provider: OauthProvider
  sender: Types.ObjectId
  /** The session it began in, and whose that is. */
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
// Whoever comes back from a provider brings the state alone.
oauthRequestSchema.index({ hash: 1 }, { unique: true })
oauthRequestSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
