import { emailKeyOf } from '@rollcall/contract'
import { invitationFields as declared, type InvitationJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'

/** An invitation to a workspace. Only hashes of its links' secrets are stored. */
export type Invitation = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  workspace: Types.ObjectId
  email: string
  /** Normalized email, for comparison. */
  emailKey: string
  role: string
  roleId: Types.ObjectId
  /** Hash of the secret returned to the sender; it does not prove the mailbox. */
  hash: string
  /** Hash of the mailed secret; absent in invitations with a single secret. */
  mailedHash?: string
  /** Whether the sender was allowed to create accounts. */
  mayCreateAccount?: boolean
  status: 'pending' | 'accepted' | 'declined'
  expiresAt: Date
  /** The user who sent it, directly or by a token. */
  sender: Types.ObjectId
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

/** After it expired, or would have. */
const KEPT_SECONDS = 90 * 24 * 3600

export const invitationSchema = new Schema<Invitation>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    workspace: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    role: { type: String, required: true },
    roleId: { type: Schema.Types.ObjectId, required: true },
    hash: { type: String, required: true },
    mailedHash: { type: String },
    mayCreateAccount: { type: Boolean },
    status: { type: String, default: 'pending' },
    expiresAt: { type: Date, required: true },
    sender: { type: Schema.Types.ObjectId, required: true },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'invitations', timestamps: true, versionKey: false },
)
invitationSchema.index(
  { organization: 1, workspace: 1, emailKey: 1 },
  { unique: true, partialFilterExpression: { status: 'pending' } },
)
invitationSchema.index({ organization: 1, workspace: 1, status: 1, expiresAt: 1 })
invitationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: KEPT_SECONDS })
// Links contain no organization.
invitationSchema.index({ hash: 1 }, { unique: true })
invitationSchema.index({ mailedHash: 1 }, { unique: true, partialFilterExpression: { mailedHash: { $exists: true } } })

/** Public fields of an invitation. */
export const invitationFields: FieldTable = {
  ...declared,
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
}

const present = presenter<InvitationJson>(invitationFields)

/** Returns the public record of an invitation. */
export function presentInvitation(invitation: Invitation) {
  return present({ ...invitation, status: isExpired(invitation) ? 'expired' : invitation.status })
}

/** Whether it expired unanswered. */
export function isExpired({ status, expiresAt }: Pick<Invitation, 'status' | 'expiresAt'>): boolean {
  return status === 'pending' && expiresAt.getTime() <= Date.now()
}

/** Returns a filter for pending invitations, which each occupy a seat. */
export function pending() {
  return { status: 'pending', expiresAt: { $gt: new Date() } }
}

/**
 * Aggregation stage that computes the current status. Runs in the database, so that lists can filter and sort by it.
 */
export function showStatus(now = new Date()): PipelineStage {
  const expired = { $and: [{ $eq: ['$status', 'pending'] }, { $lte: ['$expiresAt', now] }] }
  return { $addFields: { status: { $cond: [expired, 'expired', '$status'] } } }
}
