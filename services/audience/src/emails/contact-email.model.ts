import { Schema, type Types } from 'mongoose'

/** How far an email can come, each status further than those before it. */
export const emailStatuses = ['queued', 'sent', 'failed', 'bounced'] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** An email to a contact, as the messaging service tells of it. */
export type ContactEmail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  contact: Types.ObjectId
  /** Its id in the messaging service. */
  emailId: string
  to: string
  subject: string
  /** Address it went out from. */
  sender: string
  status: EmailStatus
  /** When it was first heard of. */
  at: Date
  sentAt: Date | null
  error: string | null
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
  },
  { collection: 'emails', versionKey: false },
)
contactEmailSchema.index({ organization: 1, emailId: 1 }, { unique: true })
contactEmailSchema.index({ organization: 1, contact: 1, at: 1, _id: 1 })
