import { Schema, type Types } from 'mongoose'

/** How often the recipient of a message opened one of its links. */
export type Click = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  message: Types.ObjectId
  /** The campaign of the message, if it has one. */
  campaign?: Types.ObjectId | null
  url: string
  /** The start of the URL's hash: indexes limit the length of keys. */
  urlKey: string
  count: number
  createdAt: Date
  updatedAt: Date
}

const KEPT_SECONDS = 90 * 24 * 3600

export const clickSchema = new Schema<Click>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    message: { type: Schema.Types.ObjectId, required: true },
    campaign: { type: Schema.Types.ObjectId, default: null },
    url: { type: String, required: true },
    urlKey: { type: String, required: true },
    count: { type: Number, default: 0 },
  },
  { collection: 'clicks', timestamps: true, versionKey: false },
)
clickSchema.index({ organization: 1, message: 1, urlKey: 1 }, { unique: true })
clickSchema.index({ organization: 1, campaign: 1 }, { partialFilterExpression: { campaign: { $type: 'objectId' } } })
clickSchema.index({ updatedAt: 1 }, { expireAfterSeconds: KEPT_SECONDS })
