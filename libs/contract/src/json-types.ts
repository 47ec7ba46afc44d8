import protobuf from 'protobufjs'
import { formats } from './formats.ts'
import { ContractError, ruleOf } from './options.ts'
import { fullName } from './root.ts'

/** A type of JSON, in TypeScript and as a JSON Schema. */
type JsonType = { type: string; schema: Record<string, unknown> }

/** Integers by their type in protos. Those of 64 bits are numbers of JavaScript, too. */
export const integers = {
  int32: { type: 'integer', format: 'int32', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { type: 'integer', format: 'int64', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
}

const text = { type: 'string' }

/** The names that `types` of a rule can have, besides those of messages. */
const named: Readonly<Record<string, JsonType>> = {
  null: { type: 'null', schema: { type: 'null' } },
  string: { type: 'string', schema: text },
  number: { type: 'number', schema: { type: 'number' } },
  integer: { type: 'number', schema: integers.int64 },
  boolean: { type: 'boolean', schema: { type: 'boolean' } },
  date: { type: 'string', schema: { ...text, ...formats.date.schema } },
  email: { type: 'string', schema: { ...text, ...formats.email.schema } },
  lists: {
    type: 'Record<string, readonly string[]>',
    schema: { type: 'object', additionalProperties: { type: 'array', items: text } },
  },
  rows: {
    type: 'Record<string, string>[]',
    schema: { type: 'array', items: { type: 'object', additionalProperties: text } },
  },
}

/**
 * Returns the types that a field of free JSON declares, of which messages are left as they are; undefined without any.
 * @throws {ContractError} for an unknown name
 */
export function declaredTypesOf(field: protobuf.Field): (JsonType | protobuf.Type)[] | undefined {
  return ruleOf(field)
    .types?.split(' ')
    .map(name => named[name] ?? messageOf(field, name))
}

function messageOf(field: protobuf.Field, name: string): protobuf.Type {
  const found = field.parent!.lookup(name)
  if (found instanceof protobuf.Type) return found
  throw new ContractError(`${fullName(field)}: ${name} is neither a type of JSON nor a message`)
}

/** Returns the messages that a field holds, by itself or as types of its JSON. */
export function messagesHeldBy(field: protobuf.Field): protobuf.Type[] {
  const held = [field.resolve().resolvedType, ...(declaredTypesOf(field) ?? [])]
  return held.filter(type => type instanceof protobuf.Type)
}
