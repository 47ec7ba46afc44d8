import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { protoFolder } from '@rollcall/protos'
import protobuf from 'protobufjs'

const require = createRequire(import.meta.url)
const descriptor = 'google/protobuf/descriptor.proto'

/**
 * Loads .proto files into one protobufjs Root, comments kept: the single source of routes, checks, types and OpenAPI.
 * @param folder where imports are relative to; every rollcall/**.proto in it is loaded
 */
export function loadRoot(folder: string = protoFolder): protobuf.Root {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) =>
    target === descriptor ? require.resolve(`protobufjs/${target}`) : join(folder, target)
  const files = globSync('rollcall/**/*.proto', { cwd: folder }).sort()
  root.loadSync(files, { alternateCommentMode: true, keepCase: false })
  root.resolveAll()
  return root
}

let contract: protobuf.Root | undefined

/** The Root of the project's own .proto files, loaded once for the process. */
export function contractRoot(): protobuf.Root {
  contract ??= loadRoot()
  return contract
}

/** Walks every service of a Root. */
export function* servicesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Service> {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Service) yield nested
    if (nested instanceof protobuf.Namespace) yield* servicesOf(nested)
  }
}

/** Walks every message type of a Root, nested ones after the one that holds them. */
export function* messagesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Type> {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type) yield nested
    if (nested instanceof protobuf.Namespace) yield* messagesOf(nested)
  }
}

/** Full name without the leading dot: rollcall.audience.v1.Contact. */
export function fullName(object: protobuf.ReflectionObject): string {
  return object.fullName.replace(/^\./, '')
}

/** The name that a method of the contract has on generated clients and handlers: ListContacts is listContacts. */
export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
