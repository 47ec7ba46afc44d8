import { Schema, type Types } from 'mongoose'

/**
 * A request for a sign-in code. It is stored for an address, not for an account, so that it does not reveal whether
 * accounts exist.
 */
export type SignInCode = {
  /** Hash of the id returned to the requester. */
  _id: string
  /** Hash of the email. */
  address: string
  /** The only organization it is valid for; null: any. */
  organization: Types.ObjectId | null
  /** Hash of the code. */
  hash: string
  /** Attempts left with the request id. */
  triesLeft: number
  /** Attempts left without the request id, counted separately to protect the requester. */
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

/** Codes requested and tried for an address within a day. */
export type SignInCodeBudget = {
  /** Hash of the email. */
  _id: string
  /** Changes with every write: on a conflict, the later write is retried. */
  revision: Types.ObjectId
  requestedAt: Date[]
  /** Failed attempts of all requests. */
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
