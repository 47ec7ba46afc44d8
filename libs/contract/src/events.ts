import { type EventContext, type Events, type EventType, eventContexts } from '@rollcall/protos/gen/events.ts'
import type protobuf from 'protobufjs'
import { compileDataCheck, type DataCheck } from './data-check.ts'
import { eventsOf } from './declared-events.ts'
import { contractRoot } from './root.ts'

export type { EventContext, Events, EventType }

/** The data of an event as its consumers get it: of a record in it, only the ids are certain. */
export type Received<T extends EventType> = {
  [K in keyof Events[T]]: Events[T][K] extends { _id: string; id: string }
    ? Partial<Events[T][K]> & { _id: string; id: string }
    : Events[T][K]
}

/** The service that publishes events of a type. */
export function contextOfEvent(type: EventType): EventContext {
  return eventContexts[type]
}

/** The services that publish events. */
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

/** Checks the JSON data of an event before it is published. Returns what is wrong with it. */
export function checkPublished(type: EventType, data: unknown): string | undefined {
  return checkOf(type).published(data)
}

/**
 * Checks the JSON data of an event that was received. Returns what is wrong with it. Fields that are not declared are
 * ignored: a later version may have published it.
 */
export function checkReceived(type: EventType, data: unknown): string | undefined {
  return checkOf(type).received(data)
}
