import { protoFolder } from '@rollcall/protos'
import protobuf from 'protobufjs'
import { type DeclaredEvent, eventsOf } from './declared-events.ts'
import { fieldTable } from './field-table.ts'
import { declaredTypesOf, messagesHeldBy } from './json-types.ts'
import { type JsonKind, ruleOf, shapeOf, shownFieldsOf, wireNameOf } from './options.ts'
import { fullName, lowerFirst, messagesOf, servicesOf } from './root.ts'
import { compileRoutes, findMessage } from './routes.ts'

/** The first line of every generated file. */
export const HEADER = '// Generated from the protos by `npm run generate`. Do not edit.\n'

const scalarTypes: Record<string, string> = {
  string: 'string',
  bool: 'boolean',
  bytes: 'Buffer',
  int32: 'number',
  int64: 'number',
  double: 'number',
}

/**
 * Generates TypeScript for a Root: one file for each proto package, `services.ts`, which maps every service's full
 * name to its methods, and `events.ts`, which maps every event's type to its data. Messages have the types of libs/rpc:
 * camelCase, int64 as number, enums as strings. Event data and records also get JSON types, such as `ContactJson`, and
 * records their field tables. A message that no rpc takes or answers has its JSON type only.
 * @returns file contents by file name
 */
export function generateTypes(root: protobuf.Root): Map<string, string> {
  const packages = new Map<string, protobuf.Namespace>()
  collectPackages(root, packages)
  const events = eventsOf(root)
  const asJson = reachableFrom([...events.map(({ message }) => message), ...recordsOf(root)])
  const files = new Map<string, string>()
  const onWire = reachableFrom([...servicesOf(root)].flatMap(requestsAndResponses))
  const onlyJson = new Set([...asJson].filter(type => !onWire.has(type)))
  for (const [name, namespace] of packages) files.set(`${fileOf(name)}.ts`, packageFile(namespace, asJson, onlyJson))
  files.set('services.ts', servicesFile(root))
  files.set('events.ts', eventsFile(events))
  return files
}

function collectPackages(namespace: protobuf.NamespaceBase, into: Map<string, protobuf.Namespace>): void {
  for (const nested of namespace.nestedArray) {
    if (
      !(nested instanceof protobuf.Namespace) ||
      nested instanceof protobuf.Type ||
      nested instanceof protobuf.Service
    )
      continue
    if (fullName(nested).startsWith('google.protobuf')) continue
    const hasTypes = nested.nestedArray.some(
      child => child instanceof protobuf.Type || child instanceof protobuf.Service,
    )
    if (hasTypes) into.set(fullName(nested), nested)
    collectPackages(nested, into)
  }
}

/** Whether a type is part of the contract, not of protobuf itself. */
function isOurs({ filename }: protobuf.ReflectionObject): boolean {
  return Boolean(filename?.startsWith(protoFolder)) && !filename?.endsWith('google/api/http.proto')
}

/** Returns the file of a package: audience-v1 for rollcall.audience.v1, api for google.api, types for rollcall. */
function fileOf(packageName: string): string {
  return packageName.split('.').slice(1).join('-') || 'types'
}

/** Returns the messages of answers: what routes return, and every record. */
function recordsOf(root: protobuf.Root): protobuf.Type[] {
  const returned = compileRoutes(root).routes.flatMap(({ rpc, returns: { pageOf, arrayOf, record } }) => {
    const name = pageOf ?? arrayOf ?? record
    return name === undefined ? [] : findMessage(rpc, name)!
  })
  return [...returned, ...[...messagesOf(root)].filter(isRecord)]
}

function isRecord(type: protobuf.Type): boolean {
  const { record = false, entry = false } = shapeOf(type)
  return record || entry
}

/** Returns the given messages and those nested in them. */
export function reachableFrom(
  messages: Iterable<protobuf.Type>,
  reached = new Set<protobuf.Type>(),
): Set<protobuf.Type> {
  for (const message of messages) {
    if (reached.has(message)) continue
    reached.add(message)
    reachableFrom(message.fieldsArray.flatMap(messagesHeldBy), reached)
  }
  return reached
}

function requestsAndResponses(service: protobuf.Service): protobuf.Type[] {
  return service.methodsArray.flatMap(method => {
    method.resolve()
    return [method.resolvedRequestType!, method.resolvedResponseType!]
  })
}

function packageFile(
  namespace: protobuf.Namespace,
  asJson: ReadonlySet<protobuf.Type>,
  onlyJson: ReadonlySet<protobuf.Type>,
): string {
  const imports = new Map<string, Set<string>>()
  const reference = (type: protobuf.ReflectionObject, suffix?: string) => referenceTo(type, namespace, imports, suffix)
  const parts: string[] = []
  for (const child of namespace.nestedArray.filter(isOurs)) {
    const isOnlyJson = child instanceof protobuf.Type && onlyJson.has(child)
    if ((child instanceof protobuf.Type || child instanceof protobuf.Enum) && !isOnlyJson)
      parts.push(...typeDeclarations(child, reference))
    for (const type of typesIn(child)) {
      if (asJson.has(type)) parts.push(jsonDeclaration(type, reference))
      if (isRecord(type)) parts.push(fieldsDeclaration(type))
    }
    if (child instanceof protobuf.Service) parts.push(serviceDeclaration(child, reference))
  }
  const importLines = [...imports]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([file, names]) => `import type { ${[...names].sort().join(', ')} } from './${file}.ts'`)
  return `${[HEADER, ...importLines].join('\n')}\n${parts.join('\n')}`
}

/** Returns the name of a type where it is used. */
export type Reference = (type: protobuf.ReflectionObject, suffix?: string) => string

/** Returns a message and the types declared in it. */
function typesIn(object: protobuf.ReflectionObject): protobuf.Type[] {
  return object instanceof protobuf.Type ? [object, ...object.nestedArray.flatMap(typesIn)] : []
}

/** Returns the name of a type and imports it if it is of another package. */
function referenceTo(
  type: protobuf.ReflectionObject,
  from: protobuf.Namespace,
  imports: Map<string, Set<string>>,
  suffix = '',
): string {
  let owner = type.parent!
  while (owner instanceof protobuf.Type) owner = owner.parent!
  const name = typeName(type) + suffix
  const file = fileOf(fullName(owner))
  if (owner === from) return name
  const names = imports.get(file) ?? new Set()
  imports.set(file, names.add(name))
  return name
}

/** Prefixes a nested message with the names of its parents: ApplyBatchRequestRow. */
export function typeName(type: protobuf.ReflectionObject): string {
  return type.parent instanceof protobuf.Type ? typeName(type.parent) + type.name : type.name
}

function typeDeclarations(type: protobuf.Type | protobuf.Enum, reference: Reference): string[] {
  if (type instanceof protobuf.Enum) {
    const values = Object.keys(type.values).map(value => `'${value}'`)
    return [`${comment(type.comment)}export type ${typeName(type)} = ${values.join(' | ')}\n`]
  }
  const fields = type.fieldsArray.map(field => fieldDeclaration(field, reference))
  const own = `${comment(type.comment)}export type ${typeName(type)} = {\n${fields.join('')}}\n`
  const nested = type.nestedArray.filter(child => child instanceof protobuf.Type || child instanceof protobuf.Enum)
  return [own, ...nested.flatMap(child => typeDeclarations(child, reference))]
}

function fieldDeclaration(field: protobuf.Field, reference: Reference): string {
  field.resolve()
  const message = field.resolvedType instanceof protobuf.Type
  const { json } = ruleOf(field)
  const base = json ? jsonKinds[json] : field.resolvedType ? reference(field.resolvedType) : scalarType(field)
  if (!base) throw new Error(`no TypeScript type for ${field.type} of ${fullName(field)}`)
  // On the wire an unset message is null, and an unset optional scalar is absent.
  const type = field.repeated ? `${base}[]` : message ? `${base} | null` : base
  const optional = !field.repeated && (message || field.options?.proto3_optional) ? '?' : ''
  return `${comment(field.comment, '  ')}  ${field.name}${optional}: ${type}\n`
}

/** TypeScript types of free JSON. */
const jsonKinds: Record<JsonKind, string> = {
  object: 'Record<string, unknown>',
  strings: 'Record<string, string>',
  flags: 'Record<string, boolean | null>',
  scalars: 'Record<string, string | number | boolean | null>',
  texts: 'string[]',
  any: 'unknown',
}

/** Returns the type of a scalar: the union of its allowed values if it has any. */
function scalarType(field: protobuf.Field): string | undefined {
  const allowed = field.type === 'string' ? ruleOf(field).oneOf : undefined
  if (allowed === undefined) return scalarTypes[field.type]
  const union = allowed
    .split(' ')
    .map(value => `'${value}'`)
    .join(' | ')
  return field.repeated ? `(${union})` : union
}

/** Declares the JSON type of a message, named after it; other than event data, with the suffix `Json`. */
function jsonDeclaration(type: protobuf.Type, reference: Reference): string {
  const name = shapeOf(type).event === undefined ? `${typeName(type)}Json` : typeName(type)
  return jsonType(type, name, reference)
}

/** Declares the JSON type of a message under a name. */
export function jsonType(type: protobuf.Type, name: string, reference: Reference, typeOf = jsonTypeOf): string {
  const { record = false, entry = false } = shapeOf(type)
  const ids = record || entry ? '  _id: string\n  id: string\n' : ''
  const dates = record ? '  createdAt: string\n  updatedAt: string\n' : ''
  const fields = shownFieldsOf(type).map(
    field =>
      `${comment(field.comment, '  ')}  ${wireNameOf(field)}${isOptional(field) ? '?' : ''}: ${typeOf(field, reference)}\n`,
  )
  const text = type.comment ?? `${typeName(type)} as JSON.`
  return `${comment(text)}export type ${name} = {\n${ids}${fields.join('')}${dates}}\n`
}

function isOptional(field: protobuf.Field): boolean {
  return Boolean(field.options?.proto3_optional)
}

/** Declares the public fields of a record: those allowed in filter, sort and projection. */
function fieldsDeclaration(type: protobuf.Type): string {
  const rules = new Map(type.fieldsArray.map(field => [wireNameOf(field), ruleOf(field)]))
  const specOf = (name: string, kind: string) => {
    const { filterOnly, computed } = rules.get(name) ?? {}
    const flag = filterOnly ? 'isHiddenSet' : computed ? 'isComputed' : undefined
    return flag ? `{ type: '${kind}', ${flag}: true }` : `'${kind}'`
  }
  const lines = Object.entries(fieldTable(type)).map(([name, kind]) => `  '${name}': ${specOf(name, kind)},\n`)
  return `/** The public fields of ${typeName(type)}. */\nexport const ${lowerFirst(typeName(type))}Fields = {\n${lines.join('')}} as const\n`
}

/** Returns the type of a field in JSON. */
export function jsonTypeOf(field: protobuf.Field, reference: Reference): string {
  field.resolve()
  const declared = declaredTypesOf(field)
  if (declared)
    return declared.map(type => (type instanceof protobuf.Type ? reference(type, 'Json') : type.type)).join(' | ')
  const { json, format, nullable } = ruleOf(field)
  const base = json
    ? json === 'any' && format
      ? 'string | Record<string, unknown>'
      : jsonKinds[json]
    : field.resolvedType instanceof protobuf.Type
      ? reference(field.resolvedType, 'Json')
      : scalarType(field)
  if (!base) throw new Error(`no JSON type for ${field.type} of ${fullName(field)}`)
  return `${base}${field.repeated ? '[]' : ''}${nullable && base !== 'unknown' ? ' | null' : ''}`
}

function eventsFile(events: readonly DeclaredEvent[]): string {
  const names = [...new Set(events.map(({ message }) => message.name))].sort()
  const data = events.map(({ type, message }) => `  '${type}': ${message.name}\n`)
  const contexts = events.map(({ type, context }) => `  '${type}': '${context}',\n`)
  return `${HEADER}
import type {
${names.map(name => `  ${name},\n`).join('')}} from './events-v1.ts'

/** The data of every event by its type. */
export type Events = {
${data.join('')}}

/** The type of an event. */
export type EventType = keyof Events

/** The service that publishes each event. */
export const eventContexts = {
${contexts.join('')}} as const satisfies Record<EventType, string>

/** A service that publishes events. */
export type EventContext = (typeof eventContexts)[EventType]
`
}

function serviceDeclaration(service: protobuf.Service, reference: Reference): string {
  const methods = service.methodsArray.map(method => {
    method.resolve()
    const kind = method.requestStream ? 'client_stream' : method.responseStream ? 'server_stream' : 'unary'
    const name = lowerFirst(method.name)
    const request = reference(method.resolvedRequestType!)
    const response = reference(method.resolvedResponseType!)
    return `${comment(method.comment, '  ')}  ${name}: { kind: '${kind}'; request: ${request}; response: ${response} }\n`
  })
  return `${comment(service.comment)}export type ${service.name} = {\n${methods.join('')}}\n`
}

function servicesFile(root: protobuf.Root): string {
  const services = [...servicesOf(root)].sort((a, b) => fullName(a).localeCompare(fullName(b)))
  const byFile = Map.groupBy(services, service => fileOf(fullName(service.parent!)))
  const imports = [...byFile].map(
    ([file, ones]) => `import type { ${ones.map(one => one.name).join(', ')} } from './${file}.ts'\n`,
  )
  const lines = services.map(service => `  '${fullName(service)}': ${service.name}\n`)
  return `${HEADER}\n${imports.join('')}\n/** Every gRPC service by its full name. */\nexport type Services = {\n${lines.join('')}}\n`
}

/** Returns a docstring with the text of a comment in the protos. */
export function comment(text: string | null, indent = ''): string {
  return text ? `${indent}/** ${text.replace(/\n/g, ' ')} */\n` : ''
}
