import type { DueRecord } from '@rollcall/jobs'
import type { Language } from '@rollcall/pages'
import { Schema, type Types } from 'mongoose'
import type { Value } from '../collections/values.ts'

/** A submission that makes a contact. */
export type SignUp = DueRecord & {
  /** Its collection. */
  parent: Types.ObjectId
  entry: Types.ObjectId
  /** Title of the form. */
  form: string
  email: string
  name: string
  /** Values by the slug of the attribute. */
  attributes: Record<string, Value>
  tags: string[]
  lists: string[]
  language: Language
  /** Whether it waits for a confirmation, and what that says. */
  doubleOptIn: boolean
  consent: string
  /** The confirmation: when, and from where. */
  confirmedAt: Date | null
  ip: string
  /** Why it did not become a contact. */
  refusal: string | null
  expiresAt: Date
  createdAt: Date
}

/** The sign-ups that an address got mails of on a day, over all organizations. */
export type MailCount = { _id: string; signUps: Types.ObjectId[]; expiresAt: Date }

export const signUpSchema = new Schema<SignUp>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    parent: { type: Schema.Types.ObjectId, required: true },
    entry: { type: Schema.Types.ObjectId, required: true },
    form: { type: String, required: true },
    email: { type: String, required: true },
    name: { type: String, default: '' },
    attributes: { type: Schema.Types.Mixed, default: {} },
    tags: { type: [String], default: [] },
    lists: { type: [String], default: [] },
    language: { type: String, required: true },
    doubleOptIn: { type: Boolean, required: true },
    consent: { type: String, default: '' },
    confirmedAt: { type: Date, default: null },
    ip: { type: String, default: '' },
    refusal: { type: String, default: null },
    dueAt: { type: Date, default: null },
    attempts: { type: Number, default: 0 },
    expiresAt: { type: Date, required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: 'signups', minimize: false, versionKey: false },
)
signUpSchema.index({ organization: 1, _id: 1 })
// The job queries due sign-ups of all organizations.
signUpSchema.index({ dueAt: 1, organization: 1 })
signUpSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

export const mailCountSchema = new Schema<MailCount>(
  {
    _id: { type: String, required: true },
    signUps: { type: [Schema.Types.ObjectId], required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'mailcounts', versionKey: false },
)
mailCountSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
