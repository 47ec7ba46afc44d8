import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'

/**
 * An entry of a user's audit trail: an action of the user or of their tokens, a change of their permissions, or an
 * impersonation of the user. Entries remain after the account is deleted.
 */
export type Activity = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** The user whose trail contains it. */
  user: Types.ObjectId
  /** Type of the event of the same change, if there is one. */
  type: string
  at: Date
  actor: Actor
  data: object
}

const KEPT_SECONDS = 2 * 365 * 24 * 3600

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
activitySchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS })
