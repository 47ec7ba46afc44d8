import type { Actor } from '@rollcall/rpc'
import { type Positions, positions } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { Data } from '../context.ts'

/** The membership of a contact in a list. The contact stores the list's id too; both change in one transaction. */
export type Membership = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  list: Types.ObjectId
  contact: Types.ObjectId
  /** Its position among the members of the list, from the oldest. */
  position: number
  addedAt: Date
  addedBy: Actor
  source: MembershipSource
}

/** How a contact was added. */
export type MembershipSource = 'api' | 'import' | 'form' | 'workflow'

export const membershipSchema = new Schema<Membership>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    list: { type: Schema.Types.ObjectId, required: true },
    contact: { type: Schema.Types.ObjectId, required: true },
    position: { type: Number, required: true },
    addedAt: { type: Date, required: true },
    addedBy: { type: Schema.Types.Mixed, required: true },
    source: { type: String, required: true },
  },
  { collection: 'memberships', versionKey: false },
)
membershipSchema.index({ organization: 1, contact: 1, list: 1 }, { unique: true })
membershipSchema.index({ organization: 1, list: 1, position: 1 })

/** The positions of a list's members. */
export function memberPositions(
  { store }: Pick<Data, 'store'>,
  organization: string | Types.ObjectId,
  list: Types.ObjectId,
): Positions {
  return positions(store, organization, `list ${list}`)
}
