import { AppError } from '@rollcall/contract'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { roleQueue } from '../users/member-role.ts'
import { pending } from './invitation.model.ts'

/** Returns the queue for transactions that change a workspace's members; run concurrently, they would only conflict. */
export function queueOf(workspaceId: string | Types.ObjectId): { queue: string } {
  return { queue: `workspace ${workspaceId}` }
}

/** Returns the queues for transactions that also give or take roles in a workspace, and count them. */
export function queuesOf(workspaceId: string | Types.ObjectId, organizationId: string | Types.ObjectId) {
  return { queue: [queueOf(workspaceId).queue, roleQueue(organizationId).queue] }
}

/**
 * Locks the members and invitations of a workspace until the transaction ends. Every change of them calls this or
 * `countMembers`, so that concurrent changes conflict and one is retried.
 */
export async function lockMembers({ workspaces }: Tenant, id: Types.ObjectId, tx: ClientSession): Promise<void> {
  await workspaces.updateOne({ _id: id }, { $inc: { revision: 1 } }, { tx })
}

/** Adds to the member count of a workspace, and locks its members. */
export async function countMembers(
  { workspaces }: Tenant,
  id: Types.ObjectId,
  change: number,
  tx: ClientSession,
): Promise<void> {
  await workspaces.updateOne({ _id: id }, { $inc: { memberCount: change, revision: 1 } }, { tx })
}

/**
 * Rejects a change that uses more seats than available, by members and pending invitations together. Call it after the
 * change and after `lockMembers` or `countMembers`.
 * @throws {AppError} workspace.seats_taken
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
