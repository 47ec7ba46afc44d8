import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'

/**
 * One thing that a person did, themselves or by one of their tokens, or that changed what they or their tokens may do, or
 * by which another began to act as them: the audit trail. It outlives the account.
 */
export type Activity = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Whose trail it is in. */
  user: Types.ObjectId
  /** As the event of the same change, where it has one. */
  type: string
  at: Date
  actor: Actor
  data: object
}

export const activitySchema = new Schema<Activity>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    type: { type: String, required: true },
    at: { type: Date, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
    data: { type: Schema.Types.Mixed, default: {} },
  },
  { collection: 'activities', versionKey: false, minimize: false },
)
activitySchema.index({ organization: 1, user: 1, at: 1, _id: 1 })
