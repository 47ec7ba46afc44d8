import { entryFields as declared, type EntryJson } from '@rollcall/protos/gen/content-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, type FieldType, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { Field } from '../collections/fields.ts'
import type { Values } from '../collections/values.ts'

/** An entry of a collection. */
export type Entry = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Its collection. */
  parent: Types.ObjectId
  values: Values
  source: 'api' | 'form'
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

/** A value of a unique field, which an entry has. */
export type UniqueValue = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  parent: Types.ObjectId
  /** Slug of the field. */
  field: string
  /** The value in the form that is compared. */
  key: string
  entry: Types.ObjectId
}

export const entrySchema = new Schema<Entry>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    parent: { type: Schema.Types.ObjectId, required: true },
    values: { type: Schema.Types.Mixed, required: true },
    source: { type: String, required: true },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'entries', timestamps: true, minimize: false, versionKey: false },
)
entrySchema.index({ organization: 1, parent: 1, createdAt: -1, _id: -1 })

export const uniqueValueSchema = new Schema<UniqueValue>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    parent: { type: Schema.Types.ObjectId, required: true },
    field: { type: String, required: true },
    key: { type: String, required: true },
    entry: { type: Schema.Types.ObjectId, required: true },
  },
  { collection: 'uniquevalues', versionKey: false },
)
uniqueValueSchema.index({ organization: 1, parent: 1, field: 1, key: 1 }, { unique: true })
uniqueValueSchema.index({ organization: 1, entry: 1 })

const shown: FieldTable = { ...declared, collection: { type: 'objectId', path: 'parent' } }

const fieldTypes: Record<Field['type'], FieldType> = {
  string: 'string',
  text: 'string',
  enum: 'string',
  email: 'string',
  url: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
}

/** Returns the fields that filters, sorts and projections of a collection's entries can name. */
export function entryFields(fields: readonly Field[]): FieldTable {
  return { ...shown, ...Object.fromEntries(fields.map(({ slug, type }) => [`values.${slug}`, fieldTypes[type]])) }
}

/** Returns an entry as the API shows it. */
export const publicEntry = presenter<EntryJson>(shown)
