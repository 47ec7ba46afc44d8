import { Schema, type Types } from 'mongoose'

/** Status of a mail. */
export type MailStatus = 'queued' | 'sent' | 'bounced' | 'failed'

/** account: the installation's own mail; the others are messages of the organization. */
export type MailKind = 'account' | 'transactional' | 'test'

/** A queued mail, or the record of a finished one. */
export type Mail = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Idempotency key of the sending service. */
  key: string
  kind: MailKind
  to: string
  subject: string
  /** Null once the mail is finished, because it may contain a secret code or link. */
  text: string | null
  html: string | null
  contact: string | null
  user: string | null
  /** Null for the installation's own mail. */
  sender: Types.ObjectId | null
  /** Sender address. */
  from: string
  messageId: string
  /** Expiry of the code or link in it; after that, it is not sent and its text is removed. */
  expiresAt: Date | null
  status: MailStatus
  attempts: number
  /**
   * When a worker may claim it next. A claim moves it, so that another worker takes over after a crash. Null when
   * finished.
   */
  dueAt: Date | null
  /** Error of the last failed attempt. */
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
// Workers query due mails of all organizations.
mailSchema.index({ dueAt: 1 })
mailSchema.index({ finishedAt: 1 }, { expireAfterSeconds: KEPT_SECONDS })

/** An address that a receiving server rejected permanently; the organization no longer mails it. */
export type BouncedAddress = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  emailKey: string
  /** The server's reply. */
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
