import { Schema, type Types } from 'mongoose'

/** What is remembered of failures to sign in to one account, or to an address that has none. */
export type SignInLimit = {
  /** Id of the account, or hash of the address. */
  _id: string
  /** Replaced by every change: of two changes at once, the later one decides anew. */
  revision: Types.ObjectId
  /** Tries without success so far. A try counts before it is looked at. */
  failures: number
  /** Nothing is looked at until then. */
  lockedUntil: Date | null
  expiresAt: Date
}

export const signInLimitSchema = new Schema<SignInLimit>(
  {
    _id: String,
    revision: { type: Schema.Types.ObjectId, required: true },
    failures: { type: Number, required: true },
    lockedUntil: { type: Date, default: null },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'sign_in_limits', versionKey: false },
)
signInLimitSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
