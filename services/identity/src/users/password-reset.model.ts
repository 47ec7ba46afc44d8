import { Schema, type Types } from 'mongoose'

/** A mailed, single-use permission to set an account's password. */
export type PasswordReset = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  /** Hash of the secret under the server's key. */
  hash: string
  expiresAt: Date
}

export const passwordResetSchema = new Schema<PasswordReset>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    hash: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'password_resets', versionKey: false },
)
// Links in mails contain no organization.
passwordResetSchema.index({ hash: 1 }, { unique: true })
passwordResetSchema.index({ organization: 1, user: 1 })
passwordResetSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
