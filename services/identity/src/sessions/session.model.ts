import { Schema, type Types } from 'mongoose'
import type { Device } from './device.ts'

/** A sign-in that has not ended; its id is the `sid` of the JWT. Ending it deletes it. */
export type Session = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  device: Device
  ip: string
  userAgent: string
  expiresAt: Date
  /** Who acts as the user, read-only. */
  impersonatedBy: Types.ObjectId | null
  createdAt: Date
  updatedAt: Date
}

export const sessionSchema = new Schema<Session>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    device: {
      type: new Schema<Device>({ name: String, browser: String, os: String, type: { type: String } }, { _id: false }),
    },
    ip: { type: String, default: '' },
    userAgent: { type: String, default: '' },
    expiresAt: { type: Date, required: true },
    impersonatedBy: { type: Schema.Types.ObjectId, default: null },
  },
  { collection: 'sessions', timestamps: true, versionKey: false },
)
sessionSchema.index({ organization: 1, user: 1 })
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
