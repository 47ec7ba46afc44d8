import { deviceFields as declared } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'
import { nullIfEmpty } from './null-if-empty.ts'

/** A device that a user signed in from: one browser on one system. Newer versions of either are the same device. */
export type KnownDevice = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  user: Types.ObjectId
  name: string
  browser: string
  os: string
  type: string
  lastIp: string
  firstSeenAt: Date
  lastSeenAt: Date
}

export const deviceSchema = new Schema<KnownDevice>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    user: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    browser: { type: String, default: '' },
    os: { type: String, default: '' },
    type: { type: String, required: true },
    lastIp: { type: String, default: '' },
    firstSeenAt: { type: Date, required: true },
    lastSeenAt: { type: Date, required: true },
  },
  { collection: 'devices', versionKey: false },
)
deviceSchema.index({ organization: 1, user: 1, name: 1, type: 1 }, { unique: true })

/** What of a device is public. */
export const deviceFields: FieldTable = {
  ...declared,
  deviceId: { type: 'objectId', path: '_id' },
}

/** The public record of a device that `showDevice` has prepared. */
export const presentDevice = presenter(deviceFields)

/** Adds which device is the one that asks; the database does it, so that lists can be filtered and sorted by it. */
export function showDevice(current: Types.ObjectId | null): PipelineStage {
  const isCurrent = { $eq: ['$_id', current] }
  return { $addFields: { current: isCurrent, ...nullIfEmpty('browser', 'os', 'lastIp') } }
}
