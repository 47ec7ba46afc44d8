import type { Caller } from '@rollcall/rpc'
import { addEvents, type Filter } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { eventOf } from '../events.ts'
import type { Session } from './session.model.ts'

/** Ends sessions for whoever asks, within a transaction, and answers them; those that have ended already stay so. */
export async function endSessions(
  { within }: Context,
  filter: Filter,
  caller: Caller,
  tx: ClientSession,
): Promise<Session[]> {
  const { sessions } = within(caller.organizationId)
  const ended = await sessions.find(filter, { session: tx })
  await sessions.deleteMany(filter, { session: tx })
  const events = ended.map(({ organization, _id: subject, user }) => {
    const data = { userId: String(user), at: new Date() }
    return eventOf('session.ended', { organization, subject, data }, caller)
  })
  await addEvents(tx, events)
  return ended
}
