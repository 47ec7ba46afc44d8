import { Schema, type Types } from 'mongoose'

/** Failed sign-ins of one account, or of an address without accounts. */
export type SignInLimit = {
  /** Id of the account, or hash of the address. */
  _id: string
  /** Changes with every write: on a conflict, the later write is retried. */
  revision: Types.ObjectId
  /** Failed attempts so far. An attempt is counted before the password is checked. */
  failures: number
  /** No password is checked until then. */
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
