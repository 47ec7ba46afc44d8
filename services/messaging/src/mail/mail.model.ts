import { Schema, type Types } from 'mongoose'
import type { Track } from '../tracking/track-html.ts'

/** Statuses of a mail, in the order they can follow each other. waiting: of a campaign, until its turn. */
export const mailStatuses = [
  'waiting',
  'scheduled',
  'queued',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'failed',
  'cancelled',
  'suppressed',
] as const
/** Status of a mail; it only moves on. */
export type MailStatus = (typeof mailStatuses)[number]

/** account: the installation's own mail; the others are messages of the organization. */
export type MailKind = 'account' | 'transactional' | 'campaign' | 'test'

/** What happened to a mail: the status that it reached, and the reply of the server or why it ended. */
export type MailStep = { type: MailStatus; at: Date; detail: string | null }

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
  /** Null: the reply address of the sender. */
  replyTo: string | null
  headers: Record<string, string> | null
  /** With a contact, `to` is the address that it has at the hand-over. */
  contact: string | null
  user: string | null
  /** The campaign that it belongs to; absent for other mail. */
  campaign?: Types.ObjectId
  /** Of a waiting mail: when it may be handed over at the earliest. */
  nextTryAt?: Date
  /** Of a mail of a campaign that is being handed over: when that began. */
  markedAt?: Date
  /** Null for the installation's own mail. */
  sender: Types.ObjectId | null
  /** Sender address. */
  from: string
  messageId: string
  /** Expiry of the code or link in it; after that, it is not sent and its text is removed. */
  expiresAt: Date | null
  status: MailStatus
  /** Claims. */
  attempts: number
  /** Failed hand-overs. */
  failures: number
  /**
   * When a worker may claim it next. A claim moves it, so that another worker takes over after a crash. Null when
   * finished.
   */
  dueAt: Date | null
  /** Error of the last failed attempt. */
  error: string | null
  /** Whether it asks to confirm an address, and so goes out despite a complaint. */
  confirms?: boolean
  /** When it is to be sent; null if at once. */
  sendAt: Date | null
  sentAt: Date | null
  /** What happened to it, oldest first. */
  steps: MailStep[]
  finishedAt: Date | null
  /** What it counts; null: nothing. */
  track?: Track | null
  /** How often it and its links were opened by its recipient, and by programs. */
  opens?: number
  clicks?: number
  machineVisits?: number
  /** When its recipient unsubscribed by its link. */
  unsubscribedAt?: Date | null
  createdAt: Date
  updatedAt: Date
}

const KEPT_SECONDS = 30 * 24 * 3600

export const mailSchema = new Schema<Mail>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    key: { type: String, required: true },
    kind: { type: String, enum: ['account', 'transactional', 'campaign', 'test'], required: true },
    to: { type: String, required: true },
    subject: { type: String, required: true },
    text: { type: String, default: null },
    html: { type: String, default: null },
    replyTo: { type: String, default: null },
    headers: { type: Schema.Types.Mixed as never, default: null },
    contact: { type: String, default: null },
    user: { type: String, default: null },
    campaign: Schema.Types.ObjectId,
    nextTryAt: Date,
    markedAt: Date,
    sender: { type: Schema.Types.ObjectId, default: null },
    from: { type: String, required: true },
    messageId: { type: String, required: true },
    confirms: Boolean,
    expiresAt: { type: Date, default: null },
    status: { type: String, enum: mailStatuses, default: 'queued' },
    attempts: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    dueAt: { type: Date, default: null },
    error: { type: String, default: null },
    sendAt: { type: Date, default: null },
    sentAt: { type: Date, default: null },
    steps: { type: [Schema.Types.Mixed] as never, default: [] },
    finishedAt: { type: Date, default: null },
    track: { type: Schema.Types.Mixed as never, default: null },
    opens: Number,
    clicks: Number,
    machineVisits: Number,
    unsubscribedAt: { type: Date, default: null },
  },
  { collection: 'mails', timestamps: true, minimize: false, versionKey: false },
)
mailSchema.index({ organization: 1, key: 1 }, { unique: true })
// Workers query due mails of all organizations, and due account mails.
mailSchema.index({ dueAt: 1 })
mailSchema.index({ kind: 1, dueAt: 1 }, { partialFilterExpression: { kind: 'account' } })
// The list of messages, newest first; and those that wait.
mailSchema.index({ organization: 1, _id: 1 })
mailSchema.index({ organization: 1, status: 1, _id: 1 })
// The messages to a contact, and those to nobody that is one.
mailSchema.index({ organization: 1, contact: 1, _id: 1 })
// The recipients of a campaign: for the job that sends them, and in the default order of lists.
const ofCampaign = { partialFilterExpression: { campaign: { $exists: true } } }
mailSchema.index({ organization: 1, campaign: 1, status: 1, nextTryAt: 1, _id: 1 }, ofCampaign)
mailSchema.index({ organization: 1, campaign: 1, _id: 1 }, ofCampaign)
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
