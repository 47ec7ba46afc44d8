import type { EventType } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Filter } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { type Invitation, pending, presentInvitation } from './invitation.model.ts'

/** Revokes the invitation that matches a filter, if any, within a transaction; its link becomes invalid. */
export async function withdraw(context: Context, filter: Filter, caller: Caller, tx: ClientSession): Promise<void> {
  const { invitations } = context.collections.of(caller.organizationId)
  const invitation = await invitations.findOneAndDelete(filter, { tx })
  if (invitation) await publishOutcome(context, 'invitation.revoked', invitation, caller, tx)
}

/** Revokes the pending invitations of a sender who leaves, within a transaction: nobody else may revoke them. */
export async function withdrawAllOf(
  context: Context,
  sender: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { invitations } = context.collections.of(caller.organizationId)
  for (const { _id } of await invitations.find({ sender, ...pending() }, { tx }))
    await withdraw(context, { _id }, caller, tx)
}

/** Publishes the outcome of an invitation. */
export function publishOutcome(
  context: Context,
  type: Extract<EventType, `invitation.${string}`>,
  invitation: Invitation,
  doer: Caller,
  tx: ClientSession,
  more: object = {},
): Promise<void> {
  const { _id: subject, organization, workspace } = invitation
  const data = { invitation: presentInvitation(invitation), workspaceId: String(workspace), ...more }
  return publish(context, doer, type, { organization, subject, data }, tx)
}
