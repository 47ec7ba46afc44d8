import { userEmailFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** What became of a mail, from its beginning to its end; a later one is never followed by an earlier one. */
export const emailStatuses = ['queued', 'sent', 'failed', 'bounced'] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** A mail that the messaging service sent to a user. */
export type UserEmail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  /** The mail, as the messaging service calls it. */
  emailId: string
  subject: string
  sender: string | null
  status: EmailStatus
  /** The first that was heard of it. */
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

/** What of a mail is public. */
export { userEmailFields }

/** The public entry of a mail. */
export const presentUserEmail = presenter(userEmailFields)
