import { Schema, type Types } from 'mongoose'

/**
 * The code that the owner of a mailbox signs in with, and how many were sent there of late. It is about an address, not
 * about an account: whether one has accounts is not to be seen from whether there is a code.
 */
export type SignInCode = {
  /** The email as it is compared. */
  _id: string
  /** The one organization it is good for; null: any. */
  organization: Types.ObjectId | null
  /** Hash of email and code under the server's key; null once it was used. */
  hash: string | null
  triesLeft: number
  expiresAt: Date
  /** Codes sent since the window began. */
  sent: number
  windowEndsAt: Date
  /** When nothing of it matters any more. */
  forgetAt: Date
}

export const signInCodeSchema = new Schema<SignInCode>(
  {
    _id: String,
    organization: { type: Schema.Types.ObjectId, default: null },
    hash: { type: String, default: null },
    triesLeft: { type: Number, required: true },
    expiresAt: { type: Date, required: true },
    sent: { type: Number, required: true },
    windowEndsAt: { type: Date, required: true },
    forgetAt: { type: Date, required: true },
  },
  { collection: 'sign_in_codes', versionKey: false },
)
signInCodeSchema.index({ forgetAt: 1 }, { expireAfterSeconds: 0 })
