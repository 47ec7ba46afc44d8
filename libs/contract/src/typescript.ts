import { protoFolder } from '@rollcall/protos'
import protobuf from 'protobufjs'
import { ruleOf } from './options.ts'
import { fullName, lowerFirst, servicesOf } from './root.ts'

const header = '// Generated from the protos by `npm run generate`. Do not edit.\n'

const scalarTypes: Record<string, string> = {
  string: 'string',
  bool: 'boolean',
  bytes: 'Buffer',
  int32: 'number',
  int64: 'number',
  double: 'number',
}

/**
 * Generates TypeScript for a Root: one file for each proto package, and `services.ts`, which maps every service's full
 * name to its methods. The types are what libs/rpc puts on the wire: camelCase, int64 as number, enums as strings.
 * @returns file contents by file name
 */
export function generateTypes(root: protobuf.Root): Map<string, string> {
  const packages = new Map<string, protobuf.Namespace>()
  collectPackages(root, packages)
  const files = new Map<string, string>()
  for (const [name, namespace] of packages) files.set(`${fileOf(name)}.ts`, packageFile(namespace))
  files.set('services.ts', servicesFile(root))
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

/** Whether a type is part of the contract, not of the language that describes it. */
function isOurs({ filename }: protobuf.ReflectionObject): boolean {
  return Boolean(filename?.startsWith(protoFolder)) && !filename?.endsWith('google/api/http.proto')
}

/** rollcall.audience.v1 is audience-v1, google.api is api, rollcall itself is types. */
function fileOf(packageName: string): string {
  return packageName.split('.').slice(1).join('-') || 'types'
}

function packageFile(namespace: protobuf.Namespace): string {
  const imports = new Map<string, Set<string>>()
  const reference = (type: protobuf.ReflectionObject) => referenceTo(type, namespace, imports)
  const parts: string[] = []
  for (const child of namespace.nestedArray.filter(isOurs)) {
    if (child instanceof protobuf.Type || child instanceof protobuf.Enum)
      parts.push(...typeDeclarations(child, reference))
    if (child instanceof protobuf.Service) parts.push(serviceDeclaration(child, reference))
  }
  const importLines = [...imports]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([file, names]) => `import type { ${[...names].sort().join(', ')} } from './${file}.ts'`)
  return `${[header, ...importLines].join('\n')}\n${parts.join('\n')}`
}

type Reference = (type: protobuf.ReflectionObject) => string

/** Name of a type in this file; a type of another package is imported. */
function referenceTo(
  type: protobuf.ReflectionObject,
  from: protobuf.Namespace,
  imports: Map<string, Set<string>>,
): string {
  let owner = type.parent!
  while (owner instanceof protobuf.Type) owner = owner.parent!
  const name = typeName(type)
  const file = fileOf(fullName(owner))
  if (owner === from) return name
  const names = imports.get(file) ?? new Set()
  imports.set(file, names.add(name))
  return name
}

/** A nested message carries the names of those that hold it: ApplyBatchRequestRow. */
function typeName(type: protobuf.ReflectionObject): string {
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
  const base = field.resolvedType ? reference(field.resolvedType) : scalarType(field)
  if (!base) throw new Error(`no TypeScript type for ${field.type} of ${fullName(field)}`)
  // The wire leaves an unset message null and an unset optional scalar out.
  const type = field.repeated ? `${base}[]` : message ? `${base} | null` : base
  const optional = !field.repeated && (message || field.options?.proto3_optional) ? '?' : ''
  return `${comment(field.comment, '  ')}  ${field.name}${optional}: ${type}\n`
}

/** A string that allows a few values only is the union of them. */
function scalarType(field: protobuf.Field): string | undefined {
  const allowed = field.type === 'string' ? ruleOf(field).oneOf : undefined
  if (allowed === undefined) return scalarTypes[field.type]
  const union = allowed
    .split(' ')
    .map(value => `'${value}'`)
    .join(' | ')
  return field.repeated ? `(${union})` : union
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
  return `${header}\n${imports.join('')}\n/** Every gRPC service by its full name. */\nexport type Services = {\n${lines.join('')}}\n`
}

function comment(text: string | null, indent = ''): string {
  return text ? `${indent}/** ${text.replace(/\n/g, ' ')} */\n` : ''
}
