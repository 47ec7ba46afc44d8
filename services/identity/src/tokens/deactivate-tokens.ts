import type { Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publishAll } from '../events.ts'
import { endSessions } from '../sessions/end-sessions.ts'
import { showTokens } from './token.model.ts'

/** Filter for the usable API tokens of a user. */
const activeTokensOf = (creator: Types.ObjectId) => ({
  creator,
  active: true,
  archived: false,
  $or: [{ expiresAt: null }, { expiresAt: { $gt: new Date() } }],
})

/** Counts the usable API tokens of a user. */
export function countActiveTokens({ tokens }: Tenant, creator: Types.ObjectId): Promise<number> {
  return tokens.count(activeTokensOf(creator))
}

/** Deactivates the API tokens of a user and ends their sessions, in the transaction that changes the user. */
export async function deactivateTokensOf(
  context: Context,
  creator: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { tokens } = context.collections.of(caller.organizationId)
  const active = await tokens.find(activeTokensOf(creator), { tx })
  const ids = active.map(({ _id }) => _id)
  if (ids.length === 0) return
  await tokens.updateMany({ _id: { $in: ids } }, { $set: { active: false } }, { tx })
  await endSessions(context, { 'origin.id': { $in: ids } }, caller, tx)
  const { organization } = tokens
  const contents = (await showTokens(tokens, ids, tx)).map(token => {
    return { organization, subject: objectId(token._id), data: { token, changed: ['active'] } }
  })
  await publishAll(context, caller, 'token.updated', contents, tx)
}
