import { Schema, type Types } from 'mongoose'

/** A sign-in that passed the first factor and waits for the second. */
export type PendingSignIn = {
  /** Hash of the token returned to the client. */
  _id: string
  organization: Types.ObjectId
  user: Types.ObjectId
  /** How the first factor was proven: by password, or by a mailed code, with or without the id of its request. */
  by: 'password' | 'code' | 'bound_code'
  /** Hash of the account's password, address and second factor: a change of any of them ends the sign-in. */
  state: string
  triesLeft: number
  expiresAt: Date
}

export const pendingSignInSchema = new Schema<PendingSignIn>(
  {
    _id: String,
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    by: { type: String, required: true },
    state: { type: String, required: true },
    triesLeft: { type: Number, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'pending_sign_ins', versionKey: false },
)
pendingSignInSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
