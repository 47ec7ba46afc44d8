import { workspaceFields as declared, type WorkspaceJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** Where people of an organization work together. */
export type Workspace = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  image: string | null
  /** What members and pending invitations may take together; null: any number. */
  seats: number | null
  /** What it switched on or off for itself, by slug. */
  features: Record<string, boolean>
  /** Members whose account exists. */
  memberCount: number
  /** Counts every change of who is in it or is to be, which puts such changes in order. */
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

/** What of a workspace is public. */
export const workspaceFields: FieldTable = {
  ...declared,
  'features.*': 'boolean',
}

/** The public record of a workspace. */
export const presentWorkspace = presenter<WorkspaceJson>(workspaceFields)
