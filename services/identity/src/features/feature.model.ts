import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** What a feature is for whoever carries a role. */
export type RoleSwitch = {
  /** The role itself: another one that takes the name later is not it. */
  role: Types.ObjectId
  name: string
  on: boolean
}

/** A feature flag of an organization. */
export type Feature = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  slug: string
  name: string
  description: string
  /** For whom neither the role nor their own setting says otherwise. */
  default: boolean
  roles: RoleSwitch[]
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const featureSchema = new Schema<Feature>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    slug: { type: String, required: true },
    name: { type: String, required: true },
    description: { type: String, default: '' },
    default: { type: Boolean, default: false },
    roles: {
      type: [
        new Schema<RoleSwitch>({ role: Schema.Types.ObjectId, name: String, on: Boolean }, { _id: false, id: false }),
      ],
      default: [],
    },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'features', timestamps: true, versionKey: false },
)
featureSchema.index({ organization: 1, slug: 1 }, { unique: true })

/** What of a feature is public. */
export const featureFields: FieldTable = {
  slug: 'string',
  name: 'string',
  description: 'string',
  default: 'boolean',
  roles: 'object',
  createdBy: 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
}

const present = presenter(featureFields)

/** The public record of a feature. */
export function presentFeature(feature: Feature) {
  return present({ ...feature, roles: Object.fromEntries(feature.roles.map(({ name, on }) => [name, on])) })
}
