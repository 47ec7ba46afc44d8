import type { Caller } from '@rollcall/rpc'
import { addEvents, type Filter } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { eventOf, type Happening, tell } from '../events.ts'
import type { Session } from './session.model.ts'

/** Ends one session for whoever asks, within a transaction. Answers false where it has ended already. */
export async function endSession(
  context: Context,
  id: Types.ObjectId,
  caller: Caller,
  tx: ClientSession,
): Promise<boolean> {
  const { sessions } = context.within(caller.organizationId)
  const ended = await sessions.findOneAndDelete({ _id: id }, { session: tx })
  if (ended) await tell(context, caller, 'session.ended', happeningOf(ended), tx)
  return ended !== null
}

/** Ends sessions as part of another change, within its transaction. */
export async function endSessions(
  { within }: Context,
  filter: Filter,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { sessions } = within(caller.organizationId)
  const ended = await sessions.find(filter, { session: tx })
  await sessions.deleteMany(filter, { session: tx })
  const events = ended.map(session => eventOf('session.ended', happeningOf(session), caller))
  await addEvents(tx, events)
}

function happeningOf({ organization, _id: subject, user }: Session): Happening {
  return { organization, subject, data: { userId: String(user), at: new Date() } }
}
