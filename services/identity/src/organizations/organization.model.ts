import { type OrganizationJson, organizationFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** An organization: the tenant that all other records belong to. */
export type Organization = {
  _id: Types.ObjectId
  name: string
  /** Set only on the organization created at first start. */
  bootstrap?: true
  /** False after open registration until the owner's mailbox is proven; until then it may mail only its owners. */
  verified: boolean
  createdAt: Date
  updatedAt: Date
}

export const organizationSchema = new Schema<Organization>(
  {
    name: { type: String, required: true },
    bootstrap: Boolean,
    verified: { type: Boolean, default: true },
  },
  { collection: 'organizations', timestamps: true, versionKey: false },
)
// Prevents duplicates when replicas start concurrently on an empty database.
organizationSchema.index({ bootstrap: 1 }, { unique: true, partialFilterExpression: { bootstrap: true } })

/** Returns the public record of an organization. */
export const presentOrganization = presenter<OrganizationJson>(organizationFields)
