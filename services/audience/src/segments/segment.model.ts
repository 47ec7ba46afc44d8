import { segmentFields as declared, type SegmentJson } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A named filter of contacts. */
export type Segment = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  /** The name in the form that is compared; unique in the organization. */
  nameKey: string
  description: string
  /** JSON, since the names of operators are no names of stored fields. */
  filter: string
  /** JSON. */
  sort: string
  columns: string[]
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const segmentSchema = new Schema<Segment>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    nameKey: { type: String, required: true },
    description: { type: String, default: '' },
    filter: { type: String, required: true },
    sort: { type: String, default: '{}' },
    columns: { type: [String], default: [] },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'segments', timestamps: true, minimize: false, versionKey: false },
)
segmentSchema.index({ organization: 1, nameKey: 1 }, { unique: true })

/** Returns the form of a segment's name that is unique in an organization. */
export function nameKeyOf(name: string): string {
  return name.toLowerCase()
}

/** The fields that filters, sorts and projections of segments can name. */
export const segmentFields: FieldTable = {
  ...declared,
  name: { type: 'string', key: { path: 'nameKey', of: nameKeyOf } },
}

const present = presenter<SegmentJson>(segmentFields)

/** Returns a segment as clients and events see it. */
export function publicSegment(segment: Segment): SegmentJson {
  return { ...present(segment), filter: JSON.parse(segment.filter), sort: JSON.parse(segment.sort) }
}
