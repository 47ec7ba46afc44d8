import { AppError } from '@rollcall/contract'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { pending } from './invitation.model.ts'

/** Transactions that change who is in a workspace write to it: side by side they would only make each other begin again. */
export function queueOf(workspaceId: string | Types.ObjectId): { queue: string } {
  return { queue: `workspace ${workspaceId}` }
}

/**
 * Locks who is in a workspace, or is to be, until the transaction ends: every change of it writes to the workspace by this
 * or by `countMembers`, so that of two at once the later one begins again and sees what the first has left.
 */
export async function lockMembers({ workspaces }: Tenant, id: Types.ObjectId, tx: ClientSession): Promise<void> {
  await workspaces.updateOne({ _id: id }, { $inc: { revision: 1 } }, { tx })
}

/** Counts members that came to a workspace or left it, and locks them. */
export async function countMembers(
  { workspaces }: Tenant,
  id: Types.ObjectId,
  change: number,
  tx: ClientSession,
): Promise<void> {
  await workspaces.updateOne({ _id: id }, { $inc: { memberCount: change, revision: 1 } }, { tx })
}

/**
 * Refuses what has taken more seats than there are, members and pending invitations together; to be called once they are
 * taken, after `lockMembers` or `countMembers`. @throws {AppError} not_allowed
 */
export async function refuseOverbooking(
  { workspaces, invitations }: Tenant,
  id: Types.ObjectId,
  tx: ClientSession,
): Promise<void> {
  const workspace = await workspaces.findOne({ _id: id }, { tx })
  const { seats = null, memberCount = 0 } = workspace ?? {}
  if (seats === null) return
  const taken = memberCount + (await invitations.count({ workspace: id, ...pending() }, { tx }))
  if (taken > seats) throw new AppError('workspace.seats_taken', { seats, wanted: taken })
}
