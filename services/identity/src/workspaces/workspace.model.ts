import { workspaceFields as declared, type WorkspaceJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A workspace: a group of users of an organization. */
export type Workspace = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  image: string | null
  /** Limit for members and pending invitations together; null: unlimited. */
  seats: number | null
  /** Features switched for this workspace, by slug. */
  features: Record<string, boolean>
  /** Number of members whose account exists. */
  memberCount: number
  /** Incremented by every change of members or invitations, so that concurrent changes conflict. */
  revision: number
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const workspaceSchema = new Schema<Workspace>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    image: { type: String, default: null },
    seats: { type: Number, default: null },
    features: { type: Schema.Types.Mixed, default: {} },
    memberCount: { type: Number, default: 0 },
    revision: { type: Number, default: 0 },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'workspaces', timestamps: true, versionKey: false, minimize: false },
)

/** Public fields of a workspace. */
export const workspaceFields: FieldTable = {
  ...declared,
  'features.*': 'boolean',
}

/** Returns the public record of a workspace. */
export const presentWorkspace = presenter<WorkspaceJson>(workspaceFields)
