import { Schema, type Types } from 'mongoose'

/** The only supported grant: token exchange (RFC 8693). */
export const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** An OAuth client: exchanges its users' credentials for narrower ones. Registration is open; a client has no owner. */
export type Client = {
  _id: Types.ObjectId
  clientId: string
  /** Hash of the secret under the server's key; null for a public client. */
  secretHash: string | null
  name: string | null
  uri: string | null
  redirectUris: string[]
  authMethod: string
  /** The resource.action pairs that it may request; null: any. */
  scope: string[] | null
  /** Extended on use, so that unused registrations cannot fill the database. */
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
// Token requests carry a client id but no organization.
clientSchema.index({ clientId: 1 }, { unique: true })
clientSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
