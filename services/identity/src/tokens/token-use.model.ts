import type { Action, Resource } from '@rollcall/contract'
import { tokenUseFields } from '@rollcall/protos/gen/identity-v1.ts'
import { Schema, type Types } from 'mongoose'

/** How often a token used one permission. */
export type TokenUse = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  token: Types.ObjectId
  resource: Resource
  action: Action
  count: number
  lastAt: Date
}

export const tokenUseSchema = new Schema<TokenUse>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    token: { type: Schema.Types.ObjectId, required: true },
    resource: { type: String, required: true },
    action: { type: String, required: true },
    count: { type: Number, required: true },
    lastAt: { type: Date, required: true },
  },
  { collection: 'token_uses', versionKey: false },
)
tokenUseSchema.index({ organization: 1, token: 1, resource: 1, action: 1 }, { unique: true })

/** Public fields of a token's use. */
export { tokenUseFields }
