import { randomBytes } from 'node:crypto'
import { sessionFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { type PipelineStage, Schema, Types } from 'mongoose'
import type { Device } from './device.ts'
import { nullIfEmpty } from './null-if-empty.ts'

/** The credential that a session was made with: a session, or an API token, by its id. */
export type Origin = { kind: 'session' | 'token'; id: Types.ObjectId }

/** A sign-in, or what was made of one, that has not ended; its id is the `sid` of the JWT. Ending it deletes it. */
export type Session = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** What it is called outside, where its id, which the credential bears, is not to be seen. */
  ref: Types.ObjectId
  user: Types.ObjectId
  device: Device
  /** The same device as the user's other sign-ins from it know it. */
  deviceId: Types.ObjectId | null
  ip: string
  userAgent: string
  lastActiveAt: Date
  expiresAt: Date
  /** Who acts as the user, read-only. */
  impersonatedBy: Types.ObjectId | null
  /** What it hangs on and ends with; null for a sign-in. What has an origin is nobody else's. */
  origin: Origin | null
  createdAt: Date
  updatedAt: Date
}

export const sessionSchema = new Schema<Session>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    // Ids that are made one after the other tell of each other.
    ref: { type: Schema.Types.ObjectId, default: () => new Types.ObjectId(randomBytes(12)) },
    user: { type: Schema.Types.ObjectId, required: true },
    device: {
      type: new Schema<Device>({ name: String, browser: String, os: String, type: { type: String } }, { _id: false }),
    },
    deviceId: { type: Schema.Types.ObjectId, default: null },
    ip: { type: String, default: '' },
    userAgent: { type: String, default: '' },
    lastActiveAt: { type: Date, default: () => new Date() },
    expiresAt: { type: Date, required: true },
    impersonatedBy: { type: Schema.Types.ObjectId, default: null },
    origin: {
      type: new Schema<Origin>({ kind: String, id: Schema.Types.ObjectId }, { _id: false, id: false }),
      default: null,
    },
  },
  { collection: 'sessions', timestamps: true, versionKey: false },
)
sessionSchema.index({ organization: 1, user: 1 })
sessionSchema.index({ organization: 1, impersonatedBy: 1 })
sessionSchema.index({ organization: 1, 'origin.id': 1 })
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** What of a session is public. */
export { sessionFields }

/** The public record of a session that `showSession` has prepared. */
export const presentSession = presenter(sessionFields)

/** Puts the reference in the place of the id, and adds which session is the one that asks. */
export function showSession(current: Types.ObjectId | null): PipelineStage {
  return {
    $addFields: {
      _id: '$ref',
      sessionRef: '$ref',
      current: { $eq: ['$_id', current] },
      device: '$device.name',
      ...nullIfEmpty('ip', 'userAgent'),
    },
  }
}
