import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { protoFolder } from '@rollcall/protos'
import protobuf from 'protobufjs'

const require = createRequire(import.meta.url)
const DESCRIPTOR = 'google/protobuf/descriptor.proto'

/**
 * Loads .proto files with their comments into one protobufjs Root, the source of routes, checks, types and OpenAPI.
 * @param folder root folder of imports; every rollcall/**.proto in it is loaded
 */
export function loadRoot(folder: string = protoFolder): protobuf.Root {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) =>
    target === DESCRIPTOR ? require.resolve(`protobufjs/${target}`) : join(folder, target)
  const files = globSync('rollcall/**/*.proto', { cwd: folder }).sort()
  root.loadSync(files, { alternateCommentMode: true, keepCase: false })
  root.resolveAll()
  return root
}

let contract: protobuf.Root | undefined

/** Returns the Root of the project's .proto files, loaded once per process. */
export function contractRoot(): protobuf.Root {
  contract ??= loadRoot()
  return contract
}

/** Yields every service of a Root. */
export function* servicesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Service> {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Service) yield nested
    if (nested instanceof protobuf.Namespace) yield* servicesOf(nested)
  }
}

/** Yields every message type of a Root, nested types after their parent. */
export function* messagesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Type> {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type) yield nested
    if (nested instanceof protobuf.Namespace) yield* messagesOf(nested)
  }
}

/** Returns the full name without the leading dot: rollcall.audience.v1.Contact. */
export function fullName(object: protobuf.ReflectionObject): string {
  return object.fullName.replace(/^\./, '')
}

/** Returns the name of a method on generated clients and handlers: listContacts for ListContacts. */
export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
