import { checkPublished, contextOfEvent, type Events, type EventType } from '@rollcall/contract'
import { currentOrigin, type Event } from '@rollcall/runtime'
import { Types } from 'mongoose'

/** The record that an event is about. Events of one record stay in order. */
export type Aggregate = { _id: Types.ObjectId; organization: Types.ObjectId }

/** A value that serialises to T: a Date or an id may replace its text. */
export type Serializable<T> = T extends string
  ? T | { toJSON(): T }
  : T extends object
    ? { [K in keyof T]: Serializable<T[K]> }
    : T

declare const made: unique symbol

/** An event created by `event`, the only ones that the outbox accepts. */
export type OutgoingEvent = Event & { type: EventType; [made]: true }

/**
 * Creates an event for the outbox: its envelope, and data as declared by its message.
 * @param at when it happened
 * @param origin the request that caused it
 */
export function event<T extends EventType>(
  type: T,
  { _id, organization }: Aggregate,
  data: Serializable<Events[T]>,
  at = new Date(),
  origin = currentOrigin(),
): OutgoingEvent {
  return {
    id: String(new Types.ObjectId()),
    type,
    source: contextOfEvent(type),
    subject: String(_id),
    organization: String(organization),
    time: at.toISOString(),
    data: data as Event['data'],
    ...(origin && { origin }),
  } as OutgoingEvent
}

/** Largest data of an event in bytes of JSON. With key and headers it fits into a message (`MESSAGE_BYTES` of the bus). */
export const DATA_BYTES = 8 * 2 ** 20 - 64 * 1024

/**
 * Returns the event with its data as JSON, and the length of that. If the data does not fit into a message, `changes` is
 * empty: the broker would refuse the event, and all later ones would wait for it.
 * @throws {Error} if the data is not as declared, or is too large without `changes`
 */
export function serialized(event: OutgoingEvent): { event: OutgoingEvent; characters: number } {
  const text = fittingText(event)
  const data = JSON.parse(text) as Event['data']
  const fault = checkPublished(event.type, data)
  if (fault !== undefined) throw new Error(`event ${event.type} is not as declared: ${fault}`)
  return { event: { ...event, data }, characters: text.length }
}

function fittingText({ type, data }: OutgoingEvent): string {
  const text = JSON.stringify(data)
  if (Buffer.byteLength(text) <= DATA_BYTES) return text
  const shorter = JSON.stringify({ ...data, ...('changes' in data && { changes: {} }) })
  if (Buffer.byteLength(shorter) <= DATA_BYTES) return shorter
  throw new Error(`event ${type} is too large to be published`)
}
