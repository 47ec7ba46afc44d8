import { randomUUID } from 'node:crypto'
import { checkPublished, contextOfEvent, type Events, type EventType } from '@rollcall/contract'
import type { Event } from '@rollcall/runtime'
import type { Types } from 'mongoose'

/** The record that an event happened to: events of one record stay in order. */
export type Aggregate = { _id: Types.ObjectId; organization: Types.ObjectId }

/** What JSON makes a T of: a Date or an id may stand for its text. */
export type Serializable<T> = T extends string
  ? T | { toJSON(): T }
  : T extends object
    ? { [K in keyof T]: Serializable<T[K]> }
    : T

declare const made: unique symbol

/** An event that `event` made; nothing else goes to the outbox. */
export type OutgoingEvent = Event & { type: EventType; [made]: true }

/**
 * Makes an event for the outbox: its envelope, and data as its message declares it.
 * @param of the record it happened to, and the organization of that
 * @param at when it happened
 */
export function event<T extends EventType>(
  type: T,
  { _id, organization }: Aggregate,
  data: Serializable<Events[T]>,
  at = new Date(),
): OutgoingEvent {
  return {
    id: randomUUID(),
    type,
    source: contextOfEvent(type),
    subject: String(_id),
    organization: String(organization),
    time: at.toISOString(),
    data: data as Event['data'],
  } as OutgoingEvent
}

/** The event with its data as JSON. Throws where that is not as the message of its type declares it. */
export function serialized(event: OutgoingEvent): OutgoingEvent {
  const data = JSON.parse(JSON.stringify(event.data)) as Event['data']
  const fault = checkPublished(event.type, data)
  if (fault !== undefined) throw new Error(`event ${event.type} is not as declared: ${fault}`)
  return { ...event, data }
}
