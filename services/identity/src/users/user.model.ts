import { emailKeyOf } from '@rollcall/contract'
import { userFields as declared, type UserJson } from '@rollcall/protos/gen/identity-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** An account: it belongs to one organization, and its email is unique there. */
export type User = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  email: string
  /** The email as it is compared. */
  emailKey: string
  /** Null until the person has set one. */
  passwordHash: string | null
  image: string | null
  role: string
  roleId: Types.ObjectId
  blocked: boolean
  blockedAt: Date | null
  emailVerified: boolean
  /** Made by open registration: whoever did so chose the address. */
  selfRegistered: boolean
  tags: string[]
  attributes: Record<string, unknown>
  /** Features switched on or off for this user alone, by slug; none where it is absent. */
  features?: Record<string, boolean>
  country: string | null
  timezone: string | null
  language: string | null
  currency: string | null
  lastLoginAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const text = { type: String, default: null }

export const userSchema = new Schema<User>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    passwordHash: text,
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
  },
  { collection: 'users', timestamps: true, versionKey: false, minimize: false },
)
userSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
userSchema.index({ organization: 1, role: 1 })
// Who signs in names an email and no organization; in the order of `accountsOf`.
userSchema.index({ emailKey: 1, emailVerified: -1, selfRegistered: 1, _id: 1 })

/** What of a user is public. */
export const userFields: FieldTable = {
  ...declared,
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
  'attributes.*': 'scalar',
}

/** The public record of a user. */
export const presentUser = presenter<UserJson>(userFields)
