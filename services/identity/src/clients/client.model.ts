import { Schema, type Types } from 'mongoose'

/** A program that may trade its users' credentials for narrower ones. Anyone may register one; it belongs to nobody. */
export type Client = {
  _id: Types.ObjectId
  clientId: string
  /** Hash of the secret under the server's key; null: the client cannot keep one. */
  secretHash: string | null
  name: string | null
  uri: string | null
  redirectUris: string[]
  authMethod: string
  /** The resource.action pairs that it may ask for; null: any. */
  scope: string[] | null
  /** Moves on with its use: strangers cannot fill the store with clients that nobody uses. */
  expiresAt: Date
  createdAt: Date
}

export const clientSchema = new Schema<Client>(
  {
    clientId: { type: String, required: true },
    secretHash: { type: String, default: null },
    name: { type: String, default: null },
    uri: { type: String, default: null },
    redirectUris: { type: [String], default: [] },
    authMethod: { type: String, required: true },
    scope: { type: [String], default: null },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'clients', timestamps: { createdAt: true, updatedAt: false }, versionKey: false },
)
// Who shows a client's id names no organization.
clientSchema.index({ clientId: 1 }, { unique: true })
clientSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
