import { Schema, type Types } from 'mongoose'

/** What has become of a mail. */
export type MailStatus = 'queued' | 'sent' | 'bounced' | 'failed'

/** account: the installation's own mail; the others are messages of the organization. */
export type MailKind = 'account' | 'transactional' | 'test'

/** A mail on its way, or what is left of one that has gone. */
export type Mail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Given by whoever wants it sent: the same mail is accepted once. */
  key: string
  kind: MailKind
  to: string
  subject: string
  /** Null once the mail has gone: it may hold a code or a link that nobody else is to see. */
  text: string | null
  html: string | null
  contact: string | null
  user: string | null
  /** Null for the installation's own mail. */
  sender: Types.ObjectId | null
  /** Address it goes out from. */
  from: string
  messageId: string
  /** When the code or link in it stops working: then it is not sent any more, and its text is dropped. */
  expiresAt: Date | null
  status: MailStatus
  attempts: number
  /** When a worker takes it next; moved on while one has it, so that it falls to another if that one dies. Null at the end. */
  dueAt: Date | null
  /** What was said at the last attempt that did not succeed. */
  error: string | null
  finishedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const KEPT_SECONDS = 30 * 24 * 3600

export const mailSchema = new Schema<Mail>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    key: { type: String, required: true },
    kind: { type: String, enum: ['account', 'transactional', 'test'], required: true },
    to: { type: String, required: true },
    subject: { type: String, required: true },
    text: { type: String, default: null },
    html: { type: String, default: null },
    contact: { type: String, default: null },
    user: { type: String, default: null },
    sender: { type: Schema.Types.ObjectId, default: null },
    from: { type: String, required: true },
    messageId: { type: String, required: true },
    expiresAt: { type: Date, default: null },
    status: { type: String, enum: ['queued', 'sent', 'bounced', 'failed'], default: 'queued' },
    attempts: { type: Number, default: 0 },
    dueAt: { type: Date, default: null },
    error: { type: String, default: null },
    finishedAt: { type: Date, default: null },
  },
  { collection: 'mails', timestamps: true, minimize: false, versionKey: false },
)
mailSchema.index({ organization: 1, key: 1 }, { unique: true })
// The workers look for what is due, whosever it is.
mailSchema.index({ dueAt: 1 })
mailSchema.index({ finishedAt: 1 }, { expireAfterSeconds: KEPT_SECONDS })

/** An address that a receiving server refused for good: an organization does not write to it again. */
export type BouncedAddress = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  emailKey: string
  /** What the server said. */
  error: string
  createdAt: Date
  updatedAt: Date
}

export const bouncedAddressSchema = new Schema<BouncedAddress>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    emailKey: { type: String, required: true },
    error: { type: String, required: true },
  },
  { collection: 'bounced_addresses', timestamps: true, versionKey: false },
)
bouncedAddressSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
