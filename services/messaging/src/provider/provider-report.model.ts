import { Schema, type Types } from 'mongoose'

/** A report of a mail provider that was taken. Its token is valid once. */
export type ProviderReport = { _id: Types.ObjectId; organization: Types.ObjectId; token: string; expiresAt: Date }

export const providerReportSchema = new Schema<ProviderReport>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    token: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'provider_reports', versionKey: false },
)
providerReportSchema.index({ organization: 1, token: 1 }, { unique: true })
providerReportSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
