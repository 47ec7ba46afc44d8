import type { Caller } from '@rollcall/rpc'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { endSessions } from '../sessions/end-sessions.ts'
import { showToken } from './token.model.ts'

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
  for (const { _id: subject, organization } of active) {
    const data = { token: (await showToken(tokens, subject, tx))!, changed: ['active'] }
    await publish(context, caller, 'token.updated', { organization, subject, data }, tx)
  }
}
