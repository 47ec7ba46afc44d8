import type { Handle } from '@rollcall/bus'
import { isObjectId } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { consumeOnce } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import { changeAll } from '../contacts/change-contact.ts'
import type { Data } from '../data.ts'
import { keptDetails } from './user-trail.ts'

/** What an event of the identity service may say of whom it concerns. */
type UserData = { actor?: Actor; userId?: unknown; user?: { _id?: unknown } }

const identity: Actor = { kind: 'system', id: null, name: 'identity' }

/**
 * Keeps what users did and what was done to their accounts: the timeline of a contact shows it while it is linked to the
 * account. An account that is deleted takes its trail with it, and its contact is linked to nobody.
 */
export function onUserEvents(data: Data): Handle {
  const change = changeAll(data)
  return async event => {
    await consumeOnce(data.store, 'audience.on-user-events', event, async session => {
      if (event.type === 'user.deleted') await forget(data, change, event, session)
      else await keep(data, event, session)
    })
  }
}

async function keep(data: Data, event: Event, session: ClientSession): Promise<void> {
  const { history } = data.of({ organizationId: event.organization })
  const kept = keptDetails(event.type, event.data)
  if (!kept) return
  const { actor = identity } = event.data as UserData
  const entry = {
    subject: 'user',
    kind: 'activity',
    type: event.type,
    at: new Date(event.time),
    actor,
    data: kept,
  } as const
  await history.insertMany(
    usersOf(event).map(person => ({ ...entry, person })),
    { session },
  )
}

/** Whom an event concerns: who did it, and whose account it is about. */
function usersOf({ data }: Event): Types.ObjectId[] {
  const { actor, userId, user } = data as UserData
  const ids = [actor?.kind === 'user' ? actor.id : undefined, userId, user?._id]
  const valid = ids.filter((id): id is string => typeof id === 'string' && isObjectId(id))
  return [...new Set(valid)].map(id => new Types.ObjectId(id))
}

async function forget(
  data: Data,
  change: ReturnType<typeof changeAll>,
  { organization, subject, data: told }: Event,
  session: ClientSession,
): Promise<void> {
  const { contacts, history } = data.of({ organizationId: organization })
  const user = new Types.ObjectId(subject)
  await history.deleteMany({ person: user }, { session })
  const linked = await contacts.find({ user }, { session, projection: { _id: 1 } })
  const { actor = identity } = told as UserData
  const unlink = { organizationId: organization, type: 'contact.user_unlinked', actor } as const
  const wishes = linked.map(({ _id }) => ({ ...unlink, id: String(_id), patchOf: () => ({ user: null }) }))
  if (wishes.length > 0) await change(session, wishes, organization)
}
