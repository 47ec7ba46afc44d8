import type { Caller } from '@rollcall/rpc'
import { addEvents, type Filter } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { type EventContent, eventOf, publish } from '../events.ts'
import type { Session } from './session.model.ts'

/** Ends a session and those derived from it, within a transaction. Returns false if it has already ended. */
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

/** Ends all sessions of a user, including the ones in which the user impersonates others, within a transaction. */
export async function endSessionsOf(
  context: Context,
  user: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  await endSessions(context, { $or: [{ user }, { impersonatedBy: user }] }, caller, tx)
}

/** Ends all impersonations by and of a user, because the permission for them may be gone. */
export async function endImpersonations(
  context: Context,
  user: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const actedAs = { user, impersonatedBy: { $ne: null } }
  await endSessions(context, { $or: [{ impersonatedBy: user }, actedAs] }, caller, tx)
}

/** Ends matching sessions and those derived from them, within a transaction. Returns the number of matching ones. */
export async function endSessions(
  context: Context,
  filter: Filter,
  caller: Caller,
  tx: ClientSession,
): Promise<number> {
  const { sessions } = context.collections.of(caller.organizationId)
  const ended = await sessions.find(filter, { tx })
  if (ended.length === 0) return 0
  const ids = ended.map(({ _id }) => _id)
  await sessions.deleteMany({ _id: { $in: ids } }, { tx })
  await addEvents(
    tx,
    ended.map(session => eventOf('session.ended', happeningOf(session), caller)),
  )
  await endSessions(context, { 'origin.id': { $in: ids } }, caller, tx)
  return ended.length
}

function happeningOf({ organization, _id: subject, user }: Session): EventContent<'session.ended'> {
  return { organization, subject, data: { userId: String(user), at: new Date() } }
}
