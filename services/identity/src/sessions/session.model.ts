import { randomBytes } from 'node:crypto'
import { type SessionJson, sessionFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { type PipelineStage, Schema, Types } from 'mongoose'
import { nullIfEmpty } from './device.model.ts'
import type { Device } from './device.ts'

/** The credential that a session is derived from: a session or an API token, by id. */
export type Origin = { kind: 'session' | 'token'; id: Types.ObjectId }

/** An active sign-in or derived session; its id is the `sid` of the JWT. Ending a session deletes it. */
export type Session = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Public id. The id itself is part of the credential and is never shown. */
  ref: Types.ObjectId
  user: Types.ObjectId
  device: Device
  /** Shared by all sessions of the user on the same device. */
  deviceId: Types.ObjectId | null
  ip: string
  userAgent: string
  lastActiveAt: Date
  expiresAt: Date
  /** The user who impersonates this one, read-only. */
  impersonatedBy: Types.ObjectId | null
  /** The credential that it ends with; null for a sign-in. */
  origin: Origin | null
  createdAt: Date
  updatedAt: Date
}

export const sessionSchema = new Schema<Session>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    // Random: sequential ids would reveal each other.
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

/** Public fields of a session. */
export { sessionFields }

/** Returns the public record of a session extended by `showSession`. */
export const presentSession = presenter<SessionJson>(sessionFields)

/** Aggregation stage that shows `ref` as the id and marks the caller's session. */
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
