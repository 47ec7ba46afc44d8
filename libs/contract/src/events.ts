import { type EventContext, type Events, type EventType, eventContexts } from '@rollcall/protos/gen/events.ts'
import type protobuf from 'protobufjs'
import { compileDataCheck, type DataCheck } from './data-check.ts'
import { eventsOf } from './declared-events.ts'
import { contractRoot } from './root.ts'

export type { EventContext, Events, EventType }

/** The data of an event as received. Records in it are only certain to have their ids. */
export type Received<T extends EventType> = {
  [K in keyof Events[T]]: Events[T][K] extends { _id: string; id: string }
    ? Partial<Events[T][K]> & { _id: string; id: string }
    : Events[T][K]
}

/** Returns the service that publishes events of a type. */
export function contextOfEvent(type: EventType): EventContext {
  return eventContexts[type]
}

/** Whether this version declares an event type. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventContexts, type)
}

/** Returns the kind of record that events of a type are about, for example contact. */
export function subjectKindOf(type: EventType): string {
  subjects ??= new Map(eventsOf(contractRoot()).map(({ type, subject }) => [type, subject]))
  return subjects.get(type)!
}

let subjects: ReadonlyMap<string, string> | undefined

/** All services that publish events. */
export const eventPublishers: readonly EventContext[] = [...new Set(Object.values(eventContexts))]

type EventCheck = { published: DataCheck; received: DataCheck }

let checks: ReadonlyMap<string, EventCheck> | undefined

function checkOf(type: EventType): EventCheck {
  checks ??= new Map(eventsOf(contractRoot()).map(({ type, message }) => [type, compileEvent(message)]))
  return checks.get(type)!
}

function compileEvent(message: protobuf.Type): EventCheck {
  return { published: compileDataCheck(message, false), received: compileDataCheck(message, true) }
}

/** Returns what is wrong with the data of an event to publish; undefined if it is valid. */
export function checkPublished(type: EventType, data: unknown): string | undefined {
  return checkOf(type).published(data)
}

/**
 * Returns what is wrong with the data of a received event; undefined if it is valid. Ignores undeclared fields, since a
 * later version may have published it.
 */
export function checkReceived(type: EventType, data: unknown): string | undefined {
  return checkOf(type).received(data)
}
