import { type OrganizationJson, organizationFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { type ClientSession, Schema, type Types } from 'mongoose'
import type { Collections } from '../collections.ts'

/** Settings of an organization. */
export type Settings = {
  timezone: string
  language: string
  /** Origins of web pages that may call the API with credentials of the organization. */
  allowedOrigins: string[]
  sessionHours: number
  requireMfa: boolean
  eventRetentionDays: number
  defaultTracking: { opens: boolean; clicks: boolean }
}

/** What mail counts unless the organization has chosen something. */
export const NO_TRACKING = { opens: false, clicks: false }

/** The settings that differ from the defaults. */
export type StoredSettings = Partial<Settings>

/** An organization: the tenant that all other records belong to. */
export type Organization = {
  _id: Types.ObjectId
  name: string
  /** Set only on the organization created at first start. */
  bootstrap?: true
  /** False after open registration until the owner's mailbox is proven; until then it may mail only its owners. */
  verified: boolean
  /** What was changed from the defaults. */
  settings?: StoredSettings
  createdAt: Date
  updatedAt: Date
}

export const organizationSchema = new Schema<Organization>(
  {
    name: { type: String, required: true },
    bootstrap: Boolean,
    verified: { type: Boolean, default: true },
    settings: { type: Schema.Types.Mixed },
  },
  { collection: 'organizations', timestamps: true, versionKey: false },
)
// Prevents duplicates when replicas start concurrently on an empty database.
organizationSchema.index({ bootstrap: 1 }, { unique: true, partialFilterExpression: { bootstrap: true } })

// Preflight requests carry no credential, so no organization.
organizationSchema.index({ 'settings.allowedOrigins': 1 }, { sparse: true })

/**
 * Returns the stored settings of an organization.
 * @param options the transaction; or the session of `Store.readLatest` and its read concern
 */
export async function settingsOf(
  { unscoped }: Collections,
  organizationId: string | Types.ObjectId,
  { tx, readConcern }: { tx?: ClientSession | undefined; readConcern?: 'majority' } = {},
): Promise<StoredSettings> {
  const query = unscoped.organizations.findById(organizationId, { settings: 1 }).session(tx ?? null)
  const organization = await (readConcern ? query.readConcern(readConcern) : query).lean()
  return organization?.settings ?? {}
}

/** Returns the public record of an organization. */
export const presentOrganization = presenter<OrganizationJson>(organizationFields)
