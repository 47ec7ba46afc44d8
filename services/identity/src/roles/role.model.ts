import type { Permissions } from '@rollcall/contract'
import { roleFields as declared, type RoleJson } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { type Model, Schema, type Types } from 'mongoose'
import { builtInRole, builtInRoles } from './built-in.ts'
import { type Grants, permissionsOf } from './permissions.ts'

/** Whom a role is for: tokens, members, or (built-in ones) both. */
export type RoleKind = 'api' | 'user' | 'both'

/**
 * A named set of permissions. The built-in ones are stored with each organization, so that lists filter, sort and page
 * all roles alike; what they allow stands in built-in.ts alone.
 */
export type Role = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  kind: RoleKind
  builtIn: boolean
  /** Built-in roles come first in lists, by their power. */
  rank: number
  permissions: Grants
  description: string
  /** Tokens and users that carry the role. Counted with every change, which also puts such changes of one role in order. */
  tokenCount: number
  memberCount: number
  /** Memberships of workspaces that carry the role; none where it is absent. */
  membershipCount?: number
  createdAt: Date
  updatedAt: Date
}

/** Rank of a role that is not built-in. */
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

/** What of a role is public. */
export const roleFields: FieldTable = {
  ...declared,
  'permissions.*': 'string[]',
}

/** The public record of a role. */
export const presentRole = presenter<RoleJson>(roleFields)

/** What a stored role allows. */
export function permissionsOfRole({ name, permissions }: Role): Permissions {
  return builtInRole(name)?.permissions ?? permissionsOf(permissions)
}

/** Shows the built-in roles of every organization as this version knows them. */
export async function refreshBuiltIns(roles: Model<Role>): Promise<void> {
  for (const { name, description, grants } of builtInRoles) {
    const outdated = {
      builtIn: true,
      name,
      $or: [{ permissions: { $ne: grants } }, { description: { $ne: description } }],
    }
    await roles.updateMany(outdated, { $set: { permissions: grants, description } })
  }
}
