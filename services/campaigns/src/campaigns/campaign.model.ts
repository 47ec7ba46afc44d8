import { type CampaignCountsJson, type CampaignJson, campaignFields } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import { type CampaignStatus, campaignStatuses } from './campaign-states.ts'
import type { DailySeries } from './daily-series.ts'
import type { SentContent } from './sending.ts'

export { campaignFields }

/** One mail to an audience. */
export type Campaign = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  subject: string
  preheader: string | null
  html: string | null
  template: Types.ObjectId | null
  text: string | null
  sender: Types.ObjectId | null
  lists: Types.ObjectId[]
  segments: Types.ObjectId[]
  excludeLists: Types.ObjectId[]
  ratePerMinute: number | null
  track: { opens: boolean; clicks: boolean }
  status: CampaignStatus
  pausedReason: string | null
  failedReason: string | null
  counts: CampaignCountsJson
  scheduledAt: Date | null
  startedAt: Date | null
  finishedAt: Date | null
  createdBy: Actor
  /** Who scheduled it, and starts it at its time. */
  scheduledBy: Actor | null
  /**
   * The user whose senders it may use at its time: who scheduled it, or changed it since. Absent in records of former
   * releases.
   */
  scheduledFor?: Types.ObjectId | null
  /** What is sent, as it was at the start. */
  content: SentContent | null
  daily: DailySeries | null
  /** How far the audience is taken: the position of the last contact, and of the newest one at the start. */
  taken: { position: number; until: number | null; isWhole: boolean }
  /** When the job has to look at it; see `DueRecord`. */
  dueAt: Date | null
  attempts: number
  /**
   * Raised by each change and each start. The sending side stores the newest. Absent in records of former releases that
   * have not changed since.
   */
  revision?: number
  createdAt: Date
  updatedAt: Date
}

/** The counts of a campaign that has not started. */
export const NO_COUNTS: CampaignCountsJson = {
  recipients: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  opened: 0,
  clicked: 0,
  unsubscribed: 0,
  suppressed: { blocked: 0, unsubscribed: 0, address: 0 },
  failed: 0,
  waiting: 0,
}

/** Counts neither opens nor clicks. */
export const NO_TRACKING = { opens: false, clicks: false }

const reference = { type: Schema.Types.ObjectId, default: null }
const text = { type: String, default: null }
const date = { type: Date, default: null }
const mixed = Schema.Types.Mixed as never

export const campaignSchema = new Schema<Campaign>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    subject: { type: String, required: true },
    preheader: text,
    html: text,
    template: reference,
    text,
    sender: reference,
    lists: [Schema.Types.ObjectId],
    segments: [Schema.Types.ObjectId],
    excludeLists: [Schema.Types.ObjectId],
    ratePerMinute: { type: Number, default: null },
    track: { type: mixed, default: NO_TRACKING },
    status: { type: String, enum: campaignStatuses, default: 'draft' },
    pausedReason: text,
    failedReason: text,
    counts: { type: mixed, default: NO_COUNTS },
    scheduledAt: date,
    startedAt: date,
    finishedAt: date,
    createdBy: { type: mixed, required: true },
    scheduledBy: { type: mixed, default: null },
    scheduledFor: reference,
    content: { type: mixed, default: null },
    daily: { type: mixed, default: null },
    taken: { type: mixed, default: { position: 0, until: null, isWhole: false } },
    dueAt: date,
    attempts: { type: Number, default: 0 },
    revision: { type: Number, default: 0 },
  },
  { collection: 'campaigns', timestamps: true, minimize: false, versionKey: false },
)
campaignSchema.index({ organization: 1, createdAt: -1, _id: -1 })
campaignSchema.index({ organization: 1, status: 1 })
// The job queries due campaigns of all organizations.
campaignSchema.index({ dueAt: 1 })

/** Returns a campaign as clients see it. */
export const publicCampaign = presenter<CampaignJson>(campaignFields)

/** Returns a campaign as events name it: without its content, which can be large. */
export function eventCampaign({ _id, name, subject, status, pausedReason, counts }: Campaign) {
  return { _id, id: _id, name, subject, status, pausedReason, counts }
}
