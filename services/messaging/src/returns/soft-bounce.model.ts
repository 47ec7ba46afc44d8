import { Schema, type Types } from 'mongoose'

/** Messages that an address did not take for a while, since the last one that was delivered. */
export type SoftBounce = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  emailKey: string
  messages: { message: string; at: Date }[]
  expiresAt: Date
}

export const softBounceSchema = new Schema<SoftBounce>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    emailKey: { type: String, required: true },
    messages: { type: [Schema.Types.Mixed] as never, default: [] },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'soft_bounces', versionKey: false },
)
softBounceSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
softBounceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
