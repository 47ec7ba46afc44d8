import protobuf from 'protobufjs'
import { type JsonKind, ruleOf } from './options.ts'

type Message = Record<string, unknown>

/** Converts the JSON fields of a message to text for the wire, and back. */
export type JsonFields = {
  /** Returns a copy of the message with values replaced by text. */
  encode(message: Message): Message
  /** Replaces text by values. Changes and returns the message. */
  decode(message: Message): Message
}

type Step = { name: string; encode(value: unknown): unknown; decode(value: unknown): unknown }

/** Returns the converter for a message type and its nested messages; undefined without JSON fields. Types do not recurse. */
export function jsonFieldsOf(type: protobuf.Type): JsonFields | undefined {
  const steps = type.fieldsArray.flatMap(field => stepOf(field) ?? [])
  if (steps.length === 0) return undefined
  return {
    encode(message) {
      const encoded = { ...message }
      for (const { name, encode } of steps) if (isGiven(message[name])) encoded[name] = encode(message[name])
      return encoded
    },
    decode(message) {
      for (const { name, decode } of steps) if (isGiven(message[name])) message[name] = decode(message[name])
      return message
    },
  }
}

/** Whether a field is set. null is a JSON value. */
function isGiven(value: unknown): boolean {
  return value !== undefined
}

function stepOf(field: protobuf.Field): Step | undefined {
  const { name, repeated } = field
  const { json } = ruleOf(field)
  if (json) return { name, encode: JSON.stringify, decode: text => (text === '' ? emptyOf(json) : parse(text)) }
  const type = field.resolve().resolvedType
  const inner = type instanceof protobuf.Type ? jsonFieldsOf(type) : undefined
  if (!inner) return undefined
  const each = (change: (message: Message) => Message) => (value: unknown) =>
    repeated ? (value as Message[]).map(change) : value && change(value as Message)
  return { name, encode: each(inner.encode), decode: each(inner.decode) }
}

function parse(text: unknown): unknown {
  return JSON.parse(text as string)
}

/** The value of a field that is not optional and that the wire omits. */
function emptyOf(kind: JsonKind): unknown {
  if (kind === 'any') return null
  return kind === 'texts' ? [] : {}
}
