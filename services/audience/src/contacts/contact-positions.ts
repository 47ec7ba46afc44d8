import { type Positions, positions } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Data } from '../context.ts'

/** The places of an organization's contacts in its list, and how many there are. */
export function contactPositions(context: Pick<Data, 'store'>, organization: string | Types.ObjectId): Positions {
  return positions(context.store, organization, 'contacts')
}
