import protobuf from 'protobufjs'
import { ruleOf, wireNameOf } from './options.ts'

/**
 * Returns the public fields of a record by dotted name, with the type that libs/store casts filter values to. Includes
 * the fields of nested messages, but not those in arrays of messages or free JSON, which the record's model declares.
 */
export function fieldTable(type: protobuf.Type): Record<string, string> {
  return Object.fromEntries(type.fieldsArray.flatMap(field => entriesOf(field, wireNameOf(field))))
}

function entriesOf(field: protobuf.Field, name: string): [name: string, type: string][] {
  const message = field.resolve().resolvedType
  const own: [string, string] = [name, `${typeOf(field)}${field.repeated ? '[]' : ''}`]
  if (!(message instanceof protobuf.Type) || field.repeated) return [own]
  return [own, ...message.fieldsArray.flatMap(inner => entriesOf(inner, `${name}.${wireNameOf(inner)}`))]
}

function typeOf(field: protobuf.Field): string {
  const { json, format } = ruleOf(field)
  if (format === 'object_id') return 'objectId'
  if (format === 'date') return 'date'
  if (json) return json === 'any' ? 'scalar' : 'object'
  if (field.resolvedType instanceof protobuf.Type) return 'object'
  if (field.type === 'bool') return 'boolean'
  return field.type === 'string' ? 'string' : 'number'
}
