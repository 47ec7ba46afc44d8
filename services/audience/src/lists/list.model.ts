import { type AudienceListJson, audienceListFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** Contacts that a campaign sends to. */
export type AudienceList = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  /** The name in the form that is compared; unique in the organization. */
  nameKey: string
  description: string
  tags: string[]
  /** Accepts no more contacts. */
  archived: boolean
  /** Both counts change in the transaction that changes what they count. */
  memberCount: number
  /** Members that are neither blocked nor unsubscribed. */
  activeCount: number
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const listSchema = new Schema<AudienceList>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    nameKey: { type: String, required: true },
    description: { type: String, default: '' },
    tags: { type: [String], default: [] },
    archived: { type: Boolean, default: false },
    memberCount: { type: Number, default: 0 },
    activeCount: { type: Number, default: 0 },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'lists', timestamps: true, minimize: false, versionKey: false },
)
listSchema.index({ organization: 1, nameKey: 1 }, { unique: true })

/** Returns the form of a list's name that is unique in an organization. */
export function nameKeyOf(name: string): string {
  return name.toLowerCase()
}

/** The fields that filters, sorts and projections of lists can name. */
export const listFields: FieldTable = {
  ...audienceListFields,
  name: { type: 'string', key: { path: 'nameKey', of: nameKeyOf } },
}

/** Returns a list as clients and events see it. */
export const publicList = presenter<AudienceListJson>(listFields)
