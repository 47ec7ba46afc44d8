import type { EventHandlers, EventScope, Subscription } from '@rollcall/bus'
import { isObjectId } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { type ClientSession, Types } from 'mongoose'
import { changeAll } from '../contacts/change-contact.ts'
import type { Data } from '../context.ts'
import { keptDetails, type TrailType, trailTypes } from './user-trail.ts'

/** The part of an identity event that names the people it concerns. */
type UserData = { actor: Actor; userId?: string; user?: { _id: string } }

/**
 * Records what users did and what was done to their accounts. The timeline of a contact shows it while the contact is linked
 * to the account. When an account is deleted, deletes its history and unlinks its contact, also one that
 * was deleted in bulk and can come back.
 */
export function onUserEvents(data: Data): Subscription<ClientSession> {
  const change = changeAll(data)
  const keepAs =
    (type: TrailType) =>
    (userData: UserData, { event, tx }: EventScope<ClientSession>) =>
      keep(data, event, type, userData, tx)
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
  userData: UserData,
  tx: ClientSession,
): Promise<void> {
  const { history } = data.collections.of(organization)
  const entry = {
    subject: 'user',
    kind: 'activity',
    type,
    at: new Date(time),
    actor: userData.actor,
    data: keptDetails(type, userData),
  } as const
  await history.insertMany(
    usersOf(userData).map(person => ({ ...entry, person })),
    { tx },
  )
}

/** Returns the users an event concerns: who did it, and whose account it is about. */
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
  const { contacts, history, bulkTraces } = data.collections.of(organization)
  const user = new Types.ObjectId(subject)
  await history.deleteMany({ person: user }, { tx })
  await bulkTraces.updateMany({ 'deleted.contact.user': user }, { $set: { 'deleted.contact.user': null } }, { tx })
  const linked = await contacts.find({ user }, { tx, projection: { _id: 1 } })
  const unlink = { organizationId: organization, type: 'contact.user_unlinked', actor } as const
  const requests = linked.map(({ _id }) => ({ ...unlink, id: String(_id), patch: { user: null } }))
  if (requests.length > 0) await change(tx, requests, organization)
}
