import { Schema, type Types } from 'mongoose'

/** Clicks by the value of a dimension; null: unknown. */
export type NamedCount = { name: string | null; clicks: number }

/** The dimensions that clicks are counted by. */
export const dimensions = ['referrers', 'countries', 'devices'] as const
export type Dimension = (typeof dimensions)[number]

/** The clicks on a link in a day (UTC). */
export type ClickDay = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  link: Types.ObjectId
  day: Date
  /** By hour. */
  clicks: number[]
  /** By hour: first clicks of a visitor on that day. */
  unique: number[]
} & Record<Dimension, NamedCount[]>

/** A visitor of a link on a day: a hash of address and browser with the salt of that day. */
export type Visitor = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  link: Types.ObjectId
  day: Date
  hash: string
  expiresAt: Date
}

/** The salt of a day. Without it, hashes of that day lead back to nobody. */
export type Salt = { _id: string; salt: string; expiresAt: Date }

const namedCounts = { type: [Schema.Types.Mixed], default: [] } as never

export const clickDaySchema = new Schema<ClickDay>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    link: { type: Schema.Types.ObjectId, required: true },
    day: { type: Date, required: true },
    clicks: { type: [Number], required: true },
    unique: { type: [Number], required: true },
    referrers: namedCounts,
    countries: namedCounts,
    devices: namedCounts,
  },
  { collection: 'clickdays', versionKey: false },
)
clickDaySchema.index({ organization: 1, link: 1, day: 1 }, { unique: true })

export const visitorSchema = new Schema<Visitor>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    link: { type: Schema.Types.ObjectId, required: true },
    day: { type: Date, required: true },
    hash: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'visitors', versionKey: false },
)
visitorSchema.index({ organization: 1, link: 1, day: 1, hash: 1 }, { unique: true })
visitorSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

export const saltSchema = new Schema<Salt>(
  {
    _id: { type: String, required: true },
    salt: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'salts', versionKey: false },
)
saltSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
