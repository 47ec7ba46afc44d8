import type { Permissions } from '@rollcall/contract'
import { roleFields as declared, type RoleJson } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter, type Unscoped } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import { builtInRole, builtInRoles } from './built-in.ts'
import { type Grants, permissionsOf } from './permissions.ts'

/** What a role is for: tokens, members, or (built-in roles) both. */
export type RoleKind = 'api' | 'user' | 'both'

/**
 * A named set of permissions. Built-in roles are stored with each organization, so that lists can filter, sort and page
 * all roles alike. Their permissions are defined in built-in.ts only.
 */
export type Role = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  kind: RoleKind
  builtIn: boolean
  /** Sort key: built-in roles come first, highest rank first. */
  rank: number
  permissions: Grants
  description: string
  /** Tokens and users with the role. Each change updates a counter, so concurrent changes of one role conflict. */
  tokenCount: number
  memberCount: number
  /** Workspace memberships with the role; absent means none. */
  membershipCount?: number
  createdAt: Date
  updatedAt: Date
}

/** Rank of all custom roles. */
export const customRank = builtInRoles.length

export const roleSchema = new Schema<Role>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    kind: { type: String, required: true },
    builtIn: { type: Boolean, default: false },
    rank: { type: Number, default: customRank },
    permissions: { type: Schema.Types.Mixed, default: {} },
    description: { type: String, default: '' },
    tokenCount: { type: Number, default: 0 },
    memberCount: { type: Number, default: 0 },
    membershipCount: { type: Number, default: 0 },
  },
  { collection: 'roles', timestamps: true, versionKey: false, minimize: false },
)
roleSchema.index({ organization: 1, name: 1 }, { unique: true })

/** Public fields of a role. */
export const roleFields: FieldTable = {
  ...declared,
  'permissions.*': 'string[]',
}

/** Returns the public record of a role. */
export const presentRole = presenter<RoleJson>(roleFields)

/** Returns the permissions of a stored role. */
export function permissionsOfRole({ name, permissions }: Role): Permissions {
  return builtInRole(name)?.permissions ?? permissionsOf(permissions)
}

/** Updates the stored built-in roles of all organizations to this version. */
export async function refreshBuiltIns(roles: Unscoped<Role>): Promise<void> {
  for (const { name, description, grants } of builtInRoles) {
    const outdated = {
      builtIn: true,
      name,
      $or: [{ permissions: { $ne: grants } }, { description: { $ne: description } }],
    }
    await roles.updateMany(outdated, { $set: { permissions: grants, description } })
  }
}
