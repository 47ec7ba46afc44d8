import { templateFields as declared, type TemplateJson } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** Content that campaigns and messages share. */
export type Template = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  /** The name in the form that is compared; unique in the organization. */
  nameKey: string
  subject: string | null
  html: string
  text: string | null
  description: string
  createdBy: Actor
  /** How often a campaign began to use it; see `holdTemplate`. */
  holds: number
  createdAt: Date
  updatedAt: Date
}

export const templateSchema = new Schema<Template>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    nameKey: { type: String, required: true },
    subject: { type: String, default: null },
    html: { type: String, required: true },
    text: { type: String, default: null },
    description: { type: String, default: '' },
    createdBy: { type: Schema.Types.Mixed, required: true },
    holds: { type: Number, default: 0 },
  },
  { collection: 'templates', timestamps: true, versionKey: false },
)
templateSchema.index({ organization: 1, nameKey: 1 }, { unique: true })

/** Returns the form of a template's name that is unique in an organization. */
export function nameKeyOf(name: string): string {
  return name.toLowerCase()
}

/** The fields that filters, sorts and projections of templates can name. */
export const templateFields: FieldTable = {
  ...declared,
  name: { type: 'string', key: { path: 'nameKey', of: nameKeyOf } },
}

/** Returns a template as clients see it. */
export const publicTemplate = presenter<TemplateJson>(templateFields)
