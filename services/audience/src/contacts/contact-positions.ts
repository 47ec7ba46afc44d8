import { type Positions, positions } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Data } from '../context.ts'

/** The positions of an organization's contacts, and their number. */
export function contactPositions(context: Pick<Data, 'store'>, organization: string | Types.ObjectId): Positions {
  return positions(context.store, organization, 'contacts')
}
