import { Schema, type Types } from 'mongoose'

/** The statuses of an email, in the order they can follow each other: one that failed may be tried again. */
export const emailStatuses = [
  'queued',
  'failed',
  'suppressed',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** An email to a contact, from events of the messaging service. */
export type ContactEmail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  contact: Types.ObjectId
  /** Its id in the messaging service. */
  emailId: string
  to: string
  subject: string
  /** The address it was sent from. */
  sender: string
  status: EmailStatus
  /** The time of its earliest event. */
  at: Date
  sentAt: Date | null
  error: string | null
  /** Set if its contact was deleted in bulk: until then an undo can restore it. */
  expiresAt?: Date
}

export const contactEmailSchema = new Schema<ContactEmail>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    contact: { type: Schema.Types.ObjectId, required: true },
    emailId: { type: String, required: true },
    to: { type: String, required: true },
    subject: { type: String, default: '' },
    sender: { type: String, default: '' },
    status: { type: String, required: true },
    at: { type: Date, required: true },
    sentAt: { type: Date, default: null },
    error: { type: String, default: null },
    expiresAt: Date,
  },
  { collection: 'emails', versionKey: false },
)
contactEmailSchema.index({ organization: 1, emailId: 1 }, { unique: true })
contactEmailSchema.index({ organization: 1, contact: 1, at: 1, _id: 1 })
contactEmailSchema.index(
  { expiresAt: 1 },
  { expireAfterSeconds: 0, partialFilterExpression: { expiresAt: { $exists: true } } },
)
