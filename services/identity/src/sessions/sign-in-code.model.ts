import { Schema, type Types } from 'mongoose'

/**
 * A request for a code that the owner of a mailbox signs in with. It is about an address, not about an account: whether
 * one has accounts is not to be seen from whether there is a request.
 */
export type SignInCode = {
  /** Hash of the id that whoever asked was given. */
  _id: string
  /** Hash of the email. */
  address: string
  /** The one organization it is good for; null: any. */
  organization: Types.ObjectId | null
  /** Hash of the code. */
  hash: string
  /** Tries left to whoever asked. */
  triesLeft: number
  /** Tries left to those who do not know the id: others cannot use up the tries of whoever asked. */
  unboundTriesLeft: number
  expiresAt: Date
}

export const signInCodeSchema = new Schema<SignInCode>(
  {
    _id: String,
    address: { type: String, required: true },
    organization: { type: Schema.Types.ObjectId, default: null },
    hash: { type: String, required: true },
    triesLeft: { type: Number, required: true },
    unboundTriesLeft: { type: Number, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'sign_in_codes', versionKey: false },
)
signInCodeSchema.index({ address: 1, expiresAt: 1 })
signInCodeSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** How much an address has had of codes within a day. */
export type SignInCodeBudget = {
  /** Hash of the email. */
  _id: string
  /** Replaced by every change: of two changes at once, the later one decides anew. */
  revision: Types.ObjectId
  requestedAt: Date[]
  /** Tries without success, by whatever request. */
  triedAt: Date[]
  expiresAt: Date
}

export const signInCodeBudgetSchema = new Schema<SignInCodeBudget>(
  {
    _id: String,
    revision: { type: Schema.Types.ObjectId, required: true },
    requestedAt: [Date],
    triedAt: [Date],
    expiresAt: { type: Date, required: true },
  },
  { collection: 'sign_in_code_budgets', versionKey: false },
)
signInCodeBudgetSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
