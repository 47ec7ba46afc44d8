import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'
import type { AttributeValues } from '../attributes/attribute-values.ts'

/** A person an organization writes to, whether or not there is an account behind it. */
export type Contact = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** As typed, trimmed. */
  email: string
  /** The email as it is compared: unique in the organization. */
  emailKey: string
  name: string
  attributes: AttributeValues
  tags: string[]
  unsubscribed: boolean
  unsubscribedAt: Date | null
  /** Excluded from all sending. */
  blocked: boolean
  blockedAt: Date | null
  blockedReason: string | null
  /** The linked account. */
  user: Types.ObjectId | null
  source: 'api' | 'import' | 'form' | 'workflow'
  /** The import job that created or last changed the contact. */
  importJob: Types.ObjectId | null
  emailStatus: 'unknown' | 'ok' | 'bounced' | 'complained'
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

/** What a contact has before anything happened to it. */
export const untouched = {
  unsubscribedAt: null,
  blocked: false,
  blockedAt: null,
  blockedReason: null,
  user: null,
  importJob: null,
  emailStatus: 'unknown',
} satisfies Partial<Contact>

const date = { type: Date, default: null }
const reference = { type: Schema.Types.ObjectId, default: null }

export const contactSchema = new Schema<Contact>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    name: { type: String, default: '' },
    attributes: { type: Schema.Types.Mixed, default: {} },
    tags: { type: [String], default: [] },
    unsubscribed: { type: Boolean, default: false },
    unsubscribedAt: date,
    blocked: { type: Boolean, default: false },
    blockedAt: date,
    blockedReason: { type: String, default: null },
    user: reference,
    source: { type: String, required: true },
    importJob: reference,
    emailStatus: { type: String, default: 'unknown' },
    createdBy: { type: Schema.Types.Mixed, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'contacts', minimize: false, versionKey: false },
)
contactSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
// Each index is paid for with every imported row: the default order, the order by name, the filter by tag, no more.
contactSchema.index({ organization: 1, createdAt: 1, _id: 1 })
contactSchema.index({ organization: 1, name: 1, _id: 1 })
contactSchema.index({ organization: 1, tags: 1 })
