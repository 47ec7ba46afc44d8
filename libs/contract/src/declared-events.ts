import { basename } from 'node:path'
import type protobuf from 'protobufjs'
import { ContractError, shapeOf } from './options.ts'
import { fullName, messagesOf } from './root.ts'

/** An event that the protos declare. */
export type DeclaredEvent = {
  /** Its CloudEvents type: contact.created. */
  type: string
  /** The service that publishes it: the name of the proto file. */
  context: string
  /** Describes its data. */
  message: protobuf.Type
}

/** The events of a Root, by file and in the order of the file. Throws where a type is declared twice. */
export function eventsOf(root: protobuf.Root): DeclaredEvent[] {
  const events = [...messagesOf(root)].flatMap(declaredBy)
  for (const [type, [first, second]] of Map.groupBy(events, event => event.type))
    if (second)
      throw new ContractError(`event ${type} stands at ${fullName(first!.message)} and ${fullName(second.message)}`)
  return events
}

function declaredBy(message: protobuf.Type): DeclaredEvent[] {
  const types = shapeOf(message).event?.split(' ') ?? []
  return types.map(type => ({ type, context: basename(message.filename ?? '', '.proto'), message }))
}
