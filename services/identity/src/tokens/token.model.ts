import { type TokenJson, tokenFields } from '@rollcall/protos/gen/identity-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { presenter, type Scope } from '@rollcall/store'
import { type ClientSession, type PipelineStage, Schema, type Types } from 'mongoose'

/** An API token. Only a hash of the secret is stored. */
export type Token = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Hash of the secret under the server's key. */
  hash: string
  name: string
  description: string
  expiresAt: Date | null
  /** Name of its role; null: it authorizes as its creator. */
  role: string | null
  /** Id of the role, since a deleted role's name may be reused. */
  roleId: Types.ObjectId | null
  /** Whether the role, or the creator, was deleted. */
  roleGone: boolean
  creatorGone: boolean
  active: boolean
  archived: boolean
  tokenPreview: string
  createdBy: Actor
  /** The user it acts for. */
  creator: Types.ObjectId
  lastUsedAt: Date | null
  lastUsedIp: string | null
  /** When its refusal was last published. */
  refusedAt: Date | null
  /** Addresses and CIDR blocks that may use it; empty: any. */
  allowedIps: string[]
  createdAt: Date
  updatedAt: Date
}

const actorSchema = new Schema<Actor>(
  { kind: String, id: { type: String, default: null }, name: String },
  { _id: false, id: false },
)

export const tokenSchema = new Schema<Token>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    hash: { type: String, required: true },
    name: { type: String, required: true },
    description: { type: String, default: '' },
    expiresAt: { type: Date, default: null },
    role: { type: String, default: null },
    roleId: { type: Schema.Types.ObjectId, default: null },
    roleGone: { type: Boolean, default: false },
    creatorGone: { type: Boolean, default: false },
    active: { type: Boolean, default: true },
    archived: { type: Boolean, default: false },
    tokenPreview: { type: String, required: true },
    createdBy: { type: actorSchema, required: true },
    creator: { type: Schema.Types.ObjectId, required: true },
    lastUsedAt: { type: Date, default: null },
    lastUsedIp: { type: String, default: null },
    refusedAt: { type: Date, default: null },
    allowedIps: { type: [String], default: [] },
  },
  { collection: 'tokens', timestamps: true, versionKey: false },
)
tokenSchema.index({ organization: 1, hash: 1 }, { unique: true })
tokenSchema.index({ organization: 1, roleId: 1 })
tokenSchema.index({ organization: 1, creator: 1 })

/** Public fields of a token. */
export { tokenFields }

const presentToken = presenter<TokenJson>(tokenFields)

/** Aggregation stage that adds the current status. Runs in the database, so that lists can filter and sort by it. */
export function addStatus(now = new Date()): PipelineStage {
  const causes: [status: string, condition: unknown][] = [
    ['archived', '$archived'],
    ['inactive', { $not: ['$active'] }],
    ['expired', { $and: [{ $ne: ['$expiresAt', null] }, { $lte: ['$expiresAt', now] }] }],
    ['creator-missing', '$creatorGone'],
    ['role-missing', '$roleGone'],
  ]
  const status = causes.reduceRight<unknown>((otherwise, [name, is]) => ({ $cond: [is, name, otherwise] }), 'active')
  return { $addFields: { status } }
}

/** Returns the public record of a token, or undefined if it does not exist. */
export async function showToken(tokens: Scope<Token>, id: Types.ObjectId, tx?: ClientSession) {
  const [token] = await showTokens(tokens, [id], tx)
  return token
}

/** Returns the public records of tokens, in any order. */
export async function showTokens(tokens: Scope<Token>, ids: readonly Types.ObjectId[], tx?: ClientSession) {
  const shown = await tokens.aggregate([{ $match: { _id: { $in: ids } } }, addStatus()], { tx })
  return shown.map(token => presentToken(token))
}
