import { type CollectionJson, collectionFields as declared } from '@rollcall/protos/gen/content-v1.ts'
import type { EventCollectionJson } from '@rollcall/protos/gen/events-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { Form } from '../forms/form.ts'
import type { Field } from './fields.ts'

/** A table of entries with typed fields. */
export type Collection = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  slug: string
  description: string
  fields: Field[]
  /** The public form. */
  form: Form | null
  /** Changes with each entry, so a change of the fields conflicts with entries that are written at the same time. */
  entryCount: number
  /** How often entries were changed; makes that conflict with changes of the fields. */
  revision: number
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

/** The entries of a deleted collection, which a job deletes. */
export type Deletion = {
  /** The id that the collection had. */
  _id: Types.ObjectId
  organization: Types.ObjectId
  dueAt: Date | null
  attempts: number
}

export const collectionSchema = new Schema<Collection>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    slug: { type: String, required: true },
    description: { type: String, default: '' },
    fields: { type: [Schema.Types.Mixed], required: true } as never,
    form: { type: Schema.Types.Mixed as never, default: null },
    entryCount: { type: Number, default: 0 },
    revision: { type: Number, default: 0 },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'collections', timestamps: true, minimize: false, versionKey: false },
)
collectionSchema.index({ organization: 1, slug: 1 }, { unique: true })

export const deletionSchema = new Schema<Deletion>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    dueAt: { type: Date, default: null },
    attempts: { type: Number, default: 0 },
  },
  { collection: 'deletions', versionKey: false },
)
// The job queries due deletions of all organizations.
deletionSchema.index({ dueAt: 1, organization: 1 })

/** The public fields of a collection. */
export const collectionFields: FieldTable = declared

/** Returns a collection as the API shows it. */
export const publicCollection = presenter<CollectionJson>(declared)

/** Returns a collection as events name it: without its fields, which can be large. */
export function eventCollection(collection: Collection): EventCollectionJson {
  const { _id, id, name, slug, description, entryCount, form } = publicCollection(collection)
  return { _id, id, name, slug, description, entryCount, form }
}
