import type protobuf from 'protobufjs'
import { readOptions } from './options.ts'
import { lowerFirst } from './root.ts'

/**
 * Returns the name of an rpc's call in the SDK: its service and its own name without the service's noun. ListContacts of
 * Contacts is contacts.list, ListUserSessions of Users is users.listSessions. The option `sdk` replaces the second part.
 */
export function callNameOf(rpc: protobuf.Method): string {
  const service = rpc.parent!.name
  const noun = new RegExp(`^([A-Z][a-z]+)${service.replace(/s$/, '')}s?(?=[A-Z]|$)`)
  const own = readOptions(rpc).sdk as string | undefined
  return `${lowerFirst(service)}.${own ?? lowerFirst(rpc.name.replace(noun, '$1'))}`
}
