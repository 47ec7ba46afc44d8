import { Schema, Types } from 'mongoose'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { Membership } from '../lists/membership.model.ts'
import { UNDO_MS } from './bulk-job.model.ts'

/** What a bulk job did to one contact, for its undo. */
export type BulkTrace = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  job: Types.ObjectId
  /** Order within the job, from 1. */
  number: number
  contact: Types.ObjectId
  changes: Change[]
  /** Memberships that it created. */
  joined: Types.ObjectId[]
  /** Lists that it removed the contact from. */
  left: Types.ObjectId[]
  /** The contact that it deleted, and its memberships. */
  deleted: { contact: Contact; memberships: Membership[] } | null
  expiresAt: Date
}

/** Longer than a job can run and then be undone. */
const KEPT_MS = UNDO_MS + 24 * 3_600_000

export const bulkTraceSchema = new Schema<BulkTrace>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    job: { type: Schema.Types.ObjectId, required: true },
    number: { type: Number, required: true },
    contact: { type: Schema.Types.ObjectId, required: true },
    changes: { type: Schema.Types.Mixed as never, default: [] },
    joined: { type: [Schema.Types.ObjectId], default: [] },
    left: { type: [Schema.Types.ObjectId], default: [] },
    deleted: { type: Schema.Types.Mixed as never, default: null },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'bulk_traces', minimize: false, versionKey: false },
)
bulkTraceSchema.index({ organization: 1, job: 1, number: 1 }, { unique: true })
// Find deleted contacts of an address and of an account. The filter of the latter is a comparison, because MongoDB's planner
// cannot prove that an id has a type.
bulkTraceSchema.index(
  { organization: 1, 'deleted.contact.emailKey': 1 },
  { partialFilterExpression: { 'deleted.contact.emailKey': { $exists: true } } },
)
bulkTraceSchema.index(
  { organization: 1, 'deleted.contact.user': 1 },
  { partialFilterExpression: { 'deleted.contact.user': { $gte: new Types.ObjectId('0'.repeat(24)) } } },
)
bulkTraceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** Returns when the traces of now expire. */
export function traceExpiry(): Date {
  return new Date(Date.now() + KEPT_MS)
}

/** Returns when a trace was written, more precisely than its id. */
export function tracedAt({ expiresAt }: Pick<BulkTrace, 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() - KEPT_MS)
}
