import { type DeviceJson, deviceFields as declared } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'

/** A device that a user signed in from: a browser on an operating system, regardless of versions. */
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

/** How long a device is kept after the last sign-in from it. Sessions end earlier. */
const YEAR_SECONDS = 365 * 24 * 3600

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
deviceSchema.index({ lastSeenAt: 1 }, { expireAfterSeconds: YEAR_SECONDS })

/** Public fields of a device. */
export const deviceFields: FieldTable = {
  ...declared,
  deviceId: { type: 'objectId', path: '_id' },
}

/** Returns the public record of a device extended by `showDevice`. */
export const presentDevice = presenter<DeviceJson>(deviceFields)

/** Aggregation stage that marks the caller's device. Runs in the database, so that lists can filter and sort by it. */
export function showDevice(current: Types.ObjectId | null): PipelineStage {
  const isCurrent = { $eq: ['$_id', current] }
  return { $addFields: { current: isCurrent, ...nullIfEmpty('browser', 'os', 'lastIp') } }
}

/** For `$addFields`: unknown text is stored as '' and shown as null. */
export function nullIfEmpty(...fields: string[]): Record<string, object> {
  return Object.fromEntries(fields.map(field => [field, { $cond: [{ $eq: [`$${field}`, ''] }, null, `$${field}`] }]))
}
