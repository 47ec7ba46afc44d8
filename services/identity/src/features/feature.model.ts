import { featureFields as declared, type FeatureJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'
import type { Role } from '../roles/role.model.ts'

/** State of a feature for users with a role. */
export type RoleSwitch = {
  /** Id of the role, since a deleted role's name may be reused. */
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
  /** Value for users without a setting of their own or of their role. */
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

const publicFields: FieldTable = declared

/**
 * Returns the fields for filters, sorting and projections: the public fields, and `roles.<name>` for each given role.
 * Filters and sorting apply to records extended by `showSwitches`.
 */
export function featureFields(roles: readonly Role[]): FieldTable {
  const byRole = roles.map(({ _id, name }) => [`roles.${name}`, { type: 'boolean', path: `byRole.${_id}` }] as const)
  return { ...publicFields, roles: { type: 'object', path: 'byName' }, ...Object.fromEntries(byRole) }
}

/**
 * Aggregation stage that adds the switches as objects: `byName` for output, `byRole` by id, as names may contain dots.
 */
export const showSwitches: PipelineStage = {
  $addFields: { byName: switchesBy('$$each.name'), byRole: switchesBy({ $toString: '$$each.role' }) },
}

function switchesBy(key: string | object) {
  return { $arrayToObject: { $map: { input: '$roles', as: 'each', in: { k: key, v: '$$each.on' } } } }
}

const present = presenter<FeatureJson>(publicFields)

/** Returns the public record of a feature. */
export function presentFeature(feature: Feature) {
  return present({ ...feature, roles: Object.fromEntries(feature.roles.map(({ name, on }) => [name, on])) })
}
