import { Schema, type Types } from 'mongoose'

/** How long an organization keeps its events, once it has chosen. */
export type Retention = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  days: number
  /** When the organization chose. A redelivered event must not bring an older choice back. */
  chosenAt: Date
  /** When the next slice of events gets its new expiry; null if all have it. */
  dueAt: Date | null
  attempts: number
  /** The oldest event that has its new expiry; null before the first slice. */
  cursor: { at: Date; _id: Types.ObjectId } | null
}

export const retentionSchema = new Schema<Retention>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    days: { type: Number, required: true },
    chosenAt: { type: Date, required: true },
    dueAt: { type: Date, default: null },
    attempts: { type: Number, default: 0 },
    cursor: { type: Schema.Types.Mixed as never, default: null },
  },
  { collection: 'retentions', versionKey: false },
)
retentionSchema.index({ organization: 1 }, { unique: true })
// The job finds due changes of all organizations.
retentionSchema.index({ dueAt: 1 })
