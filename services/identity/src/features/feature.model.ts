import { featureFields as declared, type FeatureJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'
import type { Role } from '../roles/role.model.ts'

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

const publicFields: FieldTable = declared

/**
 * What filters, orders and projections of features may name: the public fields and `roles.<name>` of each given role.
 * Filters and orders apply to records that `showSwitches` has extended.
 */
export function featureFields(roles: readonly Role[]): FieldTable {
  const byRole = roles.map(({ _id, name }) => [`roles.${name}`, { type: 'boolean', path: `byRole.${_id}` }] as const)
  return { ...publicFields, roles: { type: 'object', path: 'byName' }, ...Object.fromEntries(byRole) }
}

/** Adds the switches as objects: `byName` as they are shown, and `byRole` by id, since a name may contain dots. */
export const showSwitches: PipelineStage = {
  $addFields: { byName: switchesBy('$$each.name'), byRole: switchesBy({ $toString: '$$each.role' }) },
}

function switchesBy(key: string | object) {
  return { $arrayToObject: { $map: { input: '$roles', as: 'each', in: { k: key, v: '$$each.on' } } } }
}

const present = presenter<FeatureJson>(publicFields)

/** The public record of a feature. */
export function presentFeature(feature: Feature) {
  return present({ ...feature, roles: Object.fromEntries(feature.roles.map(({ name, on }) => [name, on])) })
}
