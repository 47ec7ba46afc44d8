import type { Events, EventType } from '@rollcall/contract'
import { actorOf, type Caller } from '@rollcall/rpc'
import { addEvents, event, type OutgoingEvent, type Serializable } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from './context.ts'
import type { User } from './users/user.model.ts'

/** What an event says besides who did it. */
export type Details<T extends EventType> = Serializable<Omit<Events[T], 'actor'>>

/** What happened, to what and where. */
export type EventContent<T extends EventType> = {
  organization: Types.ObjectId
  subject: Types.ObjectId
  data: Details<T>
}

/**
 * Tells of what someone did, in the transaction that makes it true: as an event, and in that person's own trail.
 * @param trails the users whose trails it belongs in, where it is not only that of who did it
 */
export async function publish<T extends EventType>(
  { collections }: Pick<Context, 'collections'>,
  doer: Caller,
  type: T,
  content: EventContent<T>,
  tx: ClientSession,
  trails: readonly (Types.ObjectId | string | null)[] = [doer.userId],
): Promise<void> {
  const actor = actorOf(doer)
  await addEvents(tx, [eventOf(type, content, doer)])
  const { organization, data } = content
  const at = new Date()
  const entries = trails.filter(user => user !== null).map(user => ({ user, type, at, actor, data }))
  await collections.of(organization).activities.insertMany(entries, { tx })
}

/** The caller of a public route, once a password or a mail has shown who it is. */
export function asPerson(caller: Caller, { _id, name, organization }: User): Caller {
  return { ...caller, kind: 'session', organizationId: String(organization), userId: String(_id), userName: name }
}

/** Makes an event of this service; to be added to the outbox in the transaction that makes it true. */
export function eventOf<T extends EventType>(
  type: T,
  { organization, subject, data }: EventContent<T>,
  doer: Caller,
): OutgoingEvent {
  const all = { ...(data as object), actor: actorOf(doer) } as Serializable<Events[T]>
  return event(type, { _id: subject, organization }, all)
}
