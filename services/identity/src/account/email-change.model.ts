import { Schema, type Types } from 'mongoose'

/** A mailed, single-use permission to change an account's email address. */
export type EmailChange = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  /** The new address. */
  email: string
  /** Hash of the secret under the server's key. */
  hash: string
  /**
   * Hash of the account's password, address and second factor: a change of any of them ends the permission. Absent in
   * requests of older versions, which are void.
   */
  state?: string
  /** When changes were requested since the last one was made, within a day. */
  requestedAt?: Date[]
  expiresAt: Date
}

export const emailChangeSchema = new Schema<EmailChange>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    hash: { type: String, required: true },
    state: { type: String },
    requestedAt: [Date],
    expiresAt: { type: Date, required: true },
  },
  { collection: 'email_changes', versionKey: false },
)
// Links in mails contain no organization.
emailChangeSchema.index({ hash: 1 }, { unique: true })
// A new request replaces the one before.
emailChangeSchema.index({ organization: 1, user: 1 }, { unique: true })
emailChangeSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
