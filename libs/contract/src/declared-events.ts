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
  /** Kind of record that it is about. */
  subject: string
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
  const { event, subject } = shapeOf(message)
  const context = basename(message.filename ?? '', '.proto')
  const types = event?.split(' ') ?? []
  return types.map(type => ({ type, context, message, subject: subject ?? type.split('.')[0]! }))
}
