import { basename } from 'node:path'
import type protobuf from 'protobufjs'
import { ContractError, shapeOf } from './options.ts'
import { fullName, messagesOf } from './root.ts'

/** An event declared in the protos. */
export type DeclaredEvent = {
  /** CloudEvents type, such as contact.created. */
  type: string
  /** The publishing service: the name of the proto file. */
  context: string
  /** Message that describes its data. */
  message: protobuf.Type
}

/** Returns the events of a Root, in the order of the files. @throws {ContractError} if a type is declared twice */
export function eventsOf(root: protobuf.Root): DeclaredEvent[] {
  const events = [...messagesOf(root)].flatMap(declaredBy)
  for (const [type, [first, second]] of Map.groupBy(events, event => event.type))
    if (second)
      throw new ContractError(
        `event ${type} is declared by ${fullName(first!.message)} and ${fullName(second.message)}`,
      )
  return events
}

function declaredBy(message: protobuf.Type): DeclaredEvent[] {
  const types = shapeOf(message).event?.split(' ') ?? []
  return types.map(type => ({ type, context: basename(message.filename ?? '', '.proto'), message }))
}
