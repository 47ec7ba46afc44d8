import type { EndedSessions } from '@rollcall/protos/gen/identity-v1.ts'
import type { Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { endSessions } from '../sessions/end-sessions.ts'

/** Ends the sessions of the caller's account but the caller's own. */
export async function revokeOtherSessions(context: Context, caller: Caller): Promise<EndedSessions> {
  const { organizationId } = caller
  const ended = await context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(tx => endOtherSessions(context, caller, tx), { timeoutMs }),
  )
  return { ended }
}

/** Ends the other sessions of the caller's account, within a transaction. Returns their number. */
export function endOtherSessions(context: Context, caller: Caller, tx: ClientSession): Promise<number> {
  const others = { user: objectId(caller.userId), _id: { $ne: objectId(caller.sessionId) } }
  return endSessions(context, others, caller, tx)
}
