import { type HttpBody, json } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { withdrawAll } from '../workspaces/invitation-outcome.ts'
import { abandonMemberships } from '../workspaces/membership.ts'
import { leaveRole, roleQueue } from './member-role.ts'
import { keepOrganizationOwner, refuseOneself, refuseSuperior } from './protections.ts'
import { presentUser } from './user.model.ts'

/** Deletes an account permanently. Its audit trail remains; its tokens remain listed but are refused. Revokes its invitations. */
export async function deleteUser(context: Context, id: string, caller: Caller): Promise<HttpBody> {
  const { organizationId } = caller
  await context.collections.of(organizationId).users.get(id, 'user')
  return context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(tx => deleteWithin(context, id, caller, tx), {
      timeoutMs,
      ...roleQueue(organizationId),
    }),
  )
}

async function deleteWithin(context: Context, id: string, caller: Caller, tx: ClientSession): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const user = await tenant.users.get(id, 'user', { tx })
  refuseOneself(user, caller)
  await refuseSuperior(tenant, user, caller, tx)
  await keepOrganizationOwner(tenant, user, tx)
  const { _id: subject, organization } = user
  await tenant.users.deleteOne({ _id: subject }, { tx })
  await leaveRole(tenant.roles, user, tx)
  await endSessionsOf(context, subject, caller, tx)
  await tenant.devices.deleteMany({ user: subject }, { tx })
  await tenant.passwordResets.deleteMany({ user: subject }, { tx })
  await tenant.emailChanges.deleteMany({ user: subject }, { tx })
  await tenant.userEmails.deleteMany({ user: subject }, { tx })
  await abandonMemberships(tenant, subject, tx)
  await withdrawAll(context, { sender: subject }, caller, tx)
  await tenant.tokens.updateMany({ creator: subject }, { $set: { creatorGone: true } }, { tx })
  const record = presentUser(user)
  await publish(context, caller, 'user.deleted', { organization, subject, data: { user: record } }, tx)
  return json(record)
}
