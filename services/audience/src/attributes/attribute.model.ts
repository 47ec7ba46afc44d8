import { type AttributeJson, attributeFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import { type AttributeType, attributeTypes } from './attribute-values.ts'

/** The definition of a custom attribute of an organization's contacts. */
export type Attribute = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  /** The key of its values. Neither slug nor type ever changes. */
  slug: string
  type: AttributeType
  /** Allowed values of an enum. */
  options: string[]
  required: boolean
  /** Deleted, but contacts may still have values. Hidden; its slug is reserved until they are dropped. */
  deleting: boolean
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const attributeSchema = new Schema<Attribute>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    slug: { type: String, required: true },
    type: { type: String, enum: attributeTypes, required: true },
    options: { type: [String], default: [] },
    required: { type: Boolean, default: false },
    deleting: { type: Boolean, default: false },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'attributes', timestamps: true, minimize: false, versionKey: false },
)
attributeSchema.index({ organization: 1, slug: 1 }, { unique: true })
// Finds interrupted deletions of all organizations.
attributeSchema.index({ deleting: 1 }, { partialFilterExpression: { deleting: true } })

/** Public fields of a definition. */
export { attributeFields }

/** Returns the public record of a definition. */
export const presentAttribute = presenter<AttributeJson>(attributeFields)
