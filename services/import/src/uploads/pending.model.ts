import { Schema, type Types } from 'mongoose'

/** An upload that is arriving or waits for its start, and the space it reserves. */
export type PendingUpload = {
  upload: Types.ObjectId
  bytes: number
  expiresAt: Date
}

/** The pending uploads of an organization, in one record so that concurrent reservations conflict. */
export type Pending = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  uploads: PendingUpload[]
  /** Incremented by each write; a write based on an older revision is refused. */
  revision: number
}

const pendingUploadSchema = new Schema<PendingUpload>(
  {
    upload: { type: Schema.Types.ObjectId, required: true },
    bytes: { type: Number, required: true },
    expiresAt: { type: Date, required: true },
  },
  { _id: false, id: false },
)

export const pendingSchema = new Schema<Pending>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    uploads: [pendingUploadSchema],
    revision: { type: Number, required: true },
  },
  { collection: 'pending', versionKey: false },
)
pendingSchema.index({ organization: 1 }, { unique: true })
