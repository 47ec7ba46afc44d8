import type { Events, EventType } from '@rollcall/contract'
import { actorOf, type Caller } from '@rollcall/rpc'
import { addEvents, event, type OutgoingEvent, type Serializable } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from './context.ts'
import type { User } from './users/user.model.ts'

/** Data of an event without its actor. */
export type Details<T extends EventType> = Serializable<Omit<Events[T], 'actor'>>

/** Organization, subject and data of an event. */
export type EventContent<T extends EventType> = {
  organization: Types.ObjectId
  subject: Types.ObjectId
  data: Details<T>
}

/** Users whose audit trails get an entry. */
type Trails = readonly (Types.ObjectId | string | null)[]

/**
 * Publishes an event and writes it to the audit trail, in the transaction of the change.
 * @param trails users whose trails get an entry; default: the acting user
 */
export function publish<T extends EventType>(
  context: Pick<Context, 'collections'>,
  doer: Caller,
  type: T,
  content: EventContent<T>,
  tx: ClientSession,
  trails?: Trails,
): Promise<void> {
  return publishAll(context, doer, type, [content], tx, trails)
}

/** Like `publish`, for several changes of one organization. Takes two commands, however many there are. */
export async function publishAll<T extends EventType>(
  { collections }: Pick<Context, 'collections'>,
  doer: Caller,
  type: T,
  contents: readonly EventContent<T>[],
  tx: ClientSession,
  trails: Trails = [doer.userId],
): Promise<void> {
  const [first] = contents
  if (!first) return
  await addEvents(
    tx,
    contents.map(content => eventOf(type, content, doer)),
  )
  const entry = { type, at: new Date(), actor: actorOf(doer) }
  const users = trails.filter(user => user !== null)
  const entries = contents.flatMap(({ data }) => users.map(user => ({ ...entry, user, data })))
  await collections.of(first.organization).activities.insertMany(entries, { tx })
}

/** Returns the caller of a public route as the user who proved their identity. */
export function asPerson(caller: Caller, { _id, name, organization }: User): Caller {
  return { ...caller, kind: 'session', organizationId: String(organization), userId: String(_id), userName: name }
}

/** Creates an event of this service. Add it to the outbox in the transaction of the change. */
export function eventOf<T extends EventType>(
  type: T,
  { organization, subject, data }: EventContent<T>,
  doer: Caller,
): OutgoingEvent {
  const all = { ...(data as object), actor: actorOf(doer) } as Serializable<Events[T]>
  return event(type, { _id: subject, organization }, all)
}
