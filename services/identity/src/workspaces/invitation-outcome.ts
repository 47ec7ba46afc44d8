import type { EventType } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Filter } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { type EventContent, publish, publishAll } from '../events.ts'
import { type Invitation, pending, presentInvitation } from './invitation.model.ts'

type OutcomeType = Extract<EventType, `invitation.${string}`>

/** Revokes the invitation that matches a filter, if any, within a transaction; its link becomes invalid. */
export async function withdraw(context: Context, filter: Filter, caller: Caller, tx: ClientSession): Promise<void> {
  const { invitations } = context.collections.of(caller.organizationId)
  const invitation = await invitations.findOneAndDelete(filter, { tx })
  if (invitation) await publishOutcome(context, 'invitation.revoked', invitation, caller, tx)
}

/**
 * Revokes the pending invitations that a filter matches, within a transaction, by a fixed number of commands. Call it for
 * a sender who loses access: nobody else may revoke them.
 */
export async function withdrawAll(context: Context, filter: Filter, caller: Caller, tx: ClientSession): Promise<void> {
  const { invitations } = context.collections.of(caller.organizationId)
  const withdrawn = await invitations.find({ ...filter, ...pending() }, { tx })
  if (withdrawn.length === 0) return
  await invitations.deleteMany({ _id: { $in: withdrawn.map(({ _id }) => _id) } }, { tx })
  await publishAll(
    context,
    caller,
    'invitation.revoked',
    withdrawn.map(invitation => contentOf(invitation)),
    tx,
  )
}

/** Publishes the outcome of an invitation. */
export function publishOutcome(
  context: Context,
  type: OutcomeType,
  invitation: Invitation,
  doer: Caller,
  tx: ClientSession,
  more: object = {},
): Promise<void> {
  return publish(context, doer, type, contentOf(invitation, more), tx)
}

function contentOf(invitation: Invitation, more: object = {}): EventContent<OutcomeType> {
  const { _id: subject, organization, workspace } = invitation
  const data = { invitation: presentInvitation(invitation), workspaceId: String(workspace), ...more }
  return { organization, subject, data }
}
