import { type UserEmailJson, userEmailFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** Status of a mail, in order of progress; it never moves back. */
export const emailStatuses = ['queued', 'sent', 'failed', 'bounced'] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** A mail that the messaging service sent to a user. */
export type UserEmail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  /** Id of the mail in the messaging service. */
  emailId: string
  subject: string
  sender: string | null
  status: EmailStatus
  /** Time of its earliest event. */
  queuedAt: Date
  sentAt: Date | null
  error: string | null
}

export const userEmailSchema = new Schema<UserEmail>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    emailId: { type: String, required: true },
    subject: { type: String, default: '' },
    sender: { type: String, default: null },
    status: { type: String, required: true },
    queuedAt: { type: Date, required: true },
    sentAt: { type: Date, default: null },
    error: { type: String, default: null },
  },
  { collection: 'user_emails', versionKey: false },
)
userEmailSchema.index({ organization: 1, emailId: 1 }, { unique: true })
userEmailSchema.index({ organization: 1, user: 1, queuedAt: 1, _id: 1 })

/** Public fields of a mail. */
export { userEmailFields }

/** Returns the public record of a mail. */
export const presentUserEmail = presenter<UserEmailJson>(userEmailFields)
