import { emailKeyOf } from '@rollcall/contract'
import { suppressionFields as declared, type SuppressionJson } from '@rollcall/protos/gen/messaging-v1.ts'
import { ERASED } from '@rollcall/service'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** Why an address is suppressed, by weight: a heavier reason replaces a lighter one. */
export const suppressionKinds = ['manual', 'complaint', 'hard_bounce'] as const
export type SuppressionKind = (typeof suppressionKinds)[number]

/** An address that gets no mail of the organization. */
export type Suppression = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** `[erased]` after the erasure of the person. */
  email: string
  /** The form of the address that is compared; of an erased one its keyed hash. */
  emailKey: string
  kind: SuppressionKind
  reason: string
  /** The message that caused it. */
  message: string | null
  firstAt: Date
  lastAt: Date
  count: number
  createdAt: Date
  updatedAt: Date
}

export const suppressionSchema = new Schema<Suppression>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    kind: { type: String, enum: suppressionKinds, required: true },
    reason: { type: String, default: '' },
    message: { type: String, default: null },
    firstAt: { type: Date, required: true },
    lastAt: { type: Date, required: true },
    count: { type: Number, default: 1 },
  },
  { collection: 'suppressions', timestamps: true, versionKey: false },
)
suppressionSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
suppressionSchema.index({ organization: 1, createdAt: -1, _id: -1 })

/** Whether the person who had the address was erased. Such a suppression must not name it again. */
export function isErased({ email }: Pick<Suppression, 'email'>): boolean {
  return email === ERASED
}

/** The fields that filters, sorts and projections of suppressions can name. */
export const suppressionFields: FieldTable = {
  ...declared,
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
}

/** Returns a suppression as clients and events see it. */
export const publicSuppression = presenter<SuppressionJson>(suppressionFields)
