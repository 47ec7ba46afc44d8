import { Schema, type Types } from 'mongoose'
import type { Track } from '../tracking/track-html.ts'

/** The sending side of a campaign. */
export type Mailing = {
  /** The id of the campaign. */
  _id: Types.ObjectId
  organization: Types.ObjectId
  campaignName: string
  organizationName: string
  sender: Types.ObjectId
  /** Templates in Liquid. */
  subject: string
  preheader: string | null
  html: string | null
  text: string | null
  ratePerMinute: number | null
  track?: Track | null
  /** The revision of the campaign that it is of. Absent or null: of a former release. */
  revision?: number | null
  state: 'prepared' | 'sending' | 'paused' | 'cancelled'
  /** Why it paused by itself. */
  pausedReason: string | null
  /** Whether its recipients are complete. */
  isClosed: boolean
  /** Whether what a cancelled mailing left waiting may expire. */
  isReleased: boolean
  /** With a rate: when the next mail may go, in milliseconds since 1970. */
  nextAt: number | null
  /** When no mail was due last, or none that rate and quotas let go. Absent in records of former releases. */
  idleAt?: Date | null
  counts: MailingCounts
  createdAt: Date
  updatedAt: Date
}

/** Each recipient is in one of sent, failed, suppressed and waiting. The others count what happened to sent mails. */
export type MailingCounts = {
  recipients: number
  sent: number
  failed: number
  suppressed: { blocked: number; unsubscribed: number; address: number }
  waiting: number
  delivered: number
  bounced: number
  complained: number
  opened: number
  clicked: number
  unsubscribed: number
}

const count = { type: Number, default: 0 }
const text = { type: String, default: null }

export const mailingSchema = new Schema<Mailing>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    campaignName: { type: String, default: '' },
    organizationName: { type: String, default: '' },
    sender: { type: Schema.Types.ObjectId, required: true },
    subject: { type: String, required: true },
    preheader: text,
    html: text,
    text,
    ratePerMinute: { type: Number, default: null },
    track: { type: Schema.Types.Mixed as never, default: null },
    revision: { type: Number, default: null },
    state: { type: String, enum: ['prepared', 'sending', 'paused', 'cancelled'], default: 'prepared' },
    pausedReason: text,
    isClosed: { type: Boolean, default: false },
    isReleased: { type: Boolean, default: false },
    nextAt: { type: Number, default: null },
    idleAt: { type: Date, default: null },
    counts: {
      recipients: count,
      sent: count,
      failed: count,
      suppressed: { blocked: count, unsubscribed: count, address: count },
      waiting: count,
      delivered: count,
      bounced: count,
      complained: count,
      opened: count,
      clicked: count,
      unsubscribed: count,
    },
  },
  { collection: 'mailings', timestamps: true, minimize: false, versionKey: false },
)
mailingSchema.index({ organization: 1, _id: 1 })
// The job searches those of all organizations.
mailingSchema.index({ state: 1, isReleased: 1, 'counts.waiting': 1 })
