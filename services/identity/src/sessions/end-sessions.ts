import type { Caller } from '@rollcall/rpc'
import { addEvents, type Filter } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { type EventContent, eventOf, publish } from '../events.ts'
import type { Session } from './session.model.ts'

/** Ends one session for whoever asks, and what hangs on it, within a transaction. Answers false where it has ended already. */
export async function endSession(
  context: Context,
  id: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<boolean> {
  const { sessions } = context.collections.of(caller.organizationId)
  const ended = await sessions.findOneAndDelete({ _id: id }, { tx })
  if (!ended) return false
  await publish(context, caller, 'session.ended', happeningOf(ended), tx)
  await endSessions(context, { 'origin.id': id }, caller, tx)
  return true
}

/** Ends every session of a user and those in which the user acts as another, as part of a change of the user. */
export async function endSessionsOf(
  context: Context,
  user: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  await endSessions(context, { $or: [{ user }, { impersonatedBy: user }] }, caller, tx)
}

/** Ends every session in which a user acts as another, or another as the user: what allowed it may be no more. */
export async function endImpersonations(
  context: Context,
  user: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const actedAs = { user, impersonatedBy: { $ne: null } }
  await endSessions(context, { $or: [{ impersonatedBy: user }, actedAs] }, caller, tx)
}

/** Ends sessions, and what hangs on them, as part of another change, within its transaction. */
export async function endSessions(context: Context, filter: Filter, caller: Caller, tx: ClientSession): Promise<void> {
  const { sessions } = context.collections.of(caller.organizationId)
  const ended = await sessions.find(filter, { tx })
  if (ended.length === 0) return
  const ids = ended.map(({ _id }) => _id)
  await sessions.deleteMany({ _id: { $in: ids } }, { tx })
  await addEvents(
    tx,
    ended.map(session => eventOf('session.ended', happeningOf(session), caller)),
  )
  await endSessions(context, { 'origin.id': { $in: ids } }, caller, tx)
}

function happeningOf({ organization, _id: subject, user }: Session): EventContent<'session.ended'> {
  return { organization, subject, data: { userId: String(user), at: new Date() } }
}
