import { organizationFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A customer of the API: everything else belongs to one. */
export type Organization = {
  _id: Types.ObjectId
  name: string
  /** Set on the one that the first start made, and on no other. */
  bootstrap?: true
  /** False from open registration until its owner proves the mailbox: until then it may mail nobody else. */
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
// Decides between replicas that start on an empty database at once.
organizationSchema.index({ bootstrap: 1 }, { unique: true, partialFilterExpression: { bootstrap: true } })

/** The public record of an organization. */
export const presentOrganization = presenter(organizationFields)
