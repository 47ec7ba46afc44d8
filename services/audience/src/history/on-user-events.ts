import type { EventHandlers, EventScope, Subscription } from '@rollcall/bus'
import { isObjectId } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { type ClientSession, Types } from 'mongoose'
import { changeAll } from '../contacts/change-contact.ts'
import type { Data } from '../context.ts'
import { keptDetails, type TrailType, trailTypes } from './user-trail.ts'

/** What an event of the identity service says of whom it concerns. */
type UserData = { actor: Actor; userId?: string; user?: { _id: string } }

/**
 * Keeps what users did and what was done to their accounts: the timeline of a contact shows it while it is linked to the
 * account. An account that is deleted takes its trail with it, and its contact is linked to nobody.
 */
export function onUserEvents(data: Data): Subscription<ClientSession> {
  const change = changeAll(data)
  const keepAs =
    (type: TrailType) =>
    (told: UserData, { event, tx }: EventScope<ClientSession>) =>
      keep(data, event, type, told, tx)
  const kept: EventHandlers<ClientSession> = Object.fromEntries(trailTypes.map(type => [type, keepAs(type)]))
  return {
    name: 'audience.on-user-events',
    on: { ...kept, 'user.deleted': ({ actor }, { event, tx }) => forget(data, change, event, actor, tx) },
  }
}

async function keep(
  data: Data,
  { organization, time }: Event,
  type: TrailType,
  told: UserData,
  tx: ClientSession,
): Promise<void> {
  const { history } = data.collections.of(organization)
  const entry = {
    subject: 'user',
    kind: 'activity',
    type,
    at: new Date(time),
    actor: told.actor,
    data: keptDetails(type, told),
  } as const
  await history.insertMany(
    usersOf(told).map(person => ({ ...entry, person })),
    { tx },
  )
}

/** Whom an event concerns: who did it, and whose account it is about. */
function usersOf({ actor, userId, user }: UserData): Types.ObjectId[] {
  const ids = [actor.kind === 'user' ? actor.id : undefined, userId, user?._id]
  const valid = ids.filter((id): id is string => typeof id === 'string' && isObjectId(id))
  return [...new Set(valid)].map(id => new Types.ObjectId(id))
}

async function forget(
  data: Data,
  change: ReturnType<typeof changeAll>,
  { organization, subject }: Event,
  actor: Actor,
  tx: ClientSession,
): Promise<void> {
  const { contacts, history } = data.collections.of(organization)
  const user = new Types.ObjectId(subject)
  await history.deleteMany({ person: user }, { tx })
  const linked = await contacts.find({ user }, { tx, projection: { _id: 1 } })
  const unlink = { organizationId: organization, type: 'contact.user_unlinked', actor } as const
  const wishes = linked.map(({ _id }) => ({ ...unlink, id: String(_id), patchOf: () => ({ user: null }) }))
  if (wishes.length > 0) await change(tx, wishes, organization)
}
