import type { CsvFormat } from '@rollcall/csv'
import { type mongo, Schema, type Types } from 'mongoose'

/** An uploaded file that waits for its start. */
export type Upload = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  fileName: string | null
  format: CsvFormat
  /** Data rows. */
  rowCount: number
  /** Dry runs so far. */
  dryRuns: number
  /** Rows that were erased. Counted so that an erasure and a start conflict. */
  rowsErased: number
  /** The time until which it can be started. */
  expiresAt: Date
  /** When the database deletes it. */
  purgeAt: Date
  createdAt: Date
  updatedAt: Date
}

export const uploadSchema = new Schema<Upload>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    fileName: { type: String, default: null },
    format: { type: Schema.Types.Mixed, required: true },
    rowCount: { type: Number, required: true },
    dryRuns: { type: Number, default: 0 },
    rowsErased: { type: Number, default: 0 },
    expiresAt: { type: Date, required: true },
    purgeAt: { type: Date, required: true },
  },
  { collection: 'uploads', timestamps: true },
)
uploadSchema.index({ purgeAt: 1 }, { expireAfterSeconds: 0 })

/** A piece of an uploaded file. All but the last are `CHUNK_BYTES` long. */
export type Chunk = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  upload: Types.ObjectId
  /** From 0. */
  number: number
  data: mongo.Binary
  purgeAt: Date
}

/** Length of a chunk. Fixed, so that a byte offset determines its chunk. */
export const CHUNK_BYTES = 1024 * 1024

export const chunkSchema = new Schema<Chunk>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    upload: { type: Schema.Types.ObjectId, required: true },
    number: { type: Number, required: true },
    data: { type: Schema.Types.Mixed, required: true },
    purgeAt: { type: Date, required: true },
  },
  { collection: 'chunks', versionKey: false },
)
chunkSchema.index({ organization: 1, upload: 1, number: 1 }, { unique: true })
chunkSchema.index({ purgeAt: 1 }, { expireAfterSeconds: 0 })
