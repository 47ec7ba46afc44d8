import { emailKeyOf } from '@rollcall/contract'
import type { Sealed } from '@rollcall/credentials'
import { userFields as declared, type UserJson } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A second factor by an authenticator app (TOTP, RFC 6238). */
export type Totp = {
  secret: Sealed
  /** When the secret was made. */
  startedAt: Date
  /** When a code of the secret turned it on; null until then. */
  confirmedAt: Date | null
  /** Time step of the last used code: later steps are valid only. */
  usedStep: number
  /** Hashes of the unused recovery codes. */
  recoveryCodes: string[]
}

/** An account of one organization; its email is unique there. */
export type User = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  email: string
  /** Normalized email, for comparison. */
  emailKey: string
  /** Null until a password is set. */
  passwordHash: string | null
  /** Absent or null: no second factor. */
  totp?: Totp | null
  image: string | null
  role: string
  roleId: Types.ObjectId
  blocked: boolean
  blockedAt: Date | null
  emailVerified: boolean
  /** Created by open registration, with an unproven address. */
  selfRegistered: boolean
  tags: string[]
  attributes: Record<string, unknown>
  /** Features switched for this user only, by slug; absent means none. */
  features?: Record<string, boolean>
  country: string | null
  timezone: string | null
  language: string | null
  currency: string | null
  lastLoginAt: Date | null
  /** How many mails were recorded; undefined before the first one. */
  mails?: number
  createdAt: Date
  updatedAt: Date
}

const text = { type: String, default: null }

const totpSchema = new Schema<Totp>(
  {
    secret: { type: Schema.Types.Mixed, required: true },
    startedAt: { type: Date, required: true },
    confirmedAt: { type: Date, default: null },
    usedStep: { type: Number, required: true },
    recoveryCodes: { type: [String], required: true },
  },
  { _id: false },
)

export const userSchema = new Schema<User>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    passwordHash: text,
    totp: { type: totpSchema, default: null },
    image: text,
    role: { type: String, required: true },
    roleId: { type: Schema.Types.ObjectId, required: true },
    blocked: { type: Boolean, default: false },
    blockedAt: { type: Date, default: null },
    emailVerified: { type: Boolean, default: false },
    selfRegistered: { type: Boolean, default: false },
    tags: { type: [String], default: [] },
    attributes: { type: Schema.Types.Mixed, default: {} },
    features: { type: Schema.Types.Mixed, default: {} },
    country: text,
    timezone: text,
    language: text,
    currency: text,
    lastLoginAt: { type: Date, default: null },
    mails: Number,
  },
  { collection: 'users', timestamps: true, versionKey: false, minimize: false },
)
userSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
userSchema.index({ organization: 1, role: 1 })
// Sign-in looks up emails without an organization; same order as `accountsOf`.
userSchema.index({ emailKey: 1, emailVerified: -1, selfRegistered: 1, _id: 1 })

/** Public fields of a user. */
export const userFields: FieldTable = {
  ...declared,
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
  secondFactorAt: { type: 'date', path: 'totp.confirmedAt' },
  'attributes.*': 'scalar',
}

/** Returns the public record of a user. */
export const presentUser = presenter<UserJson>(userFields)
