import protobuf from 'protobufjs'
import { type JsonKind, ruleOf } from './options.ts'

type Message = Record<string, unknown>

/** Turns the JSON fields of a message into text for the wire, and back into values. */
export type JsonFields = {
  /** A copy of the message with text in the place of values. */
  encode(message: Message): Message
  /** Puts values in the place of text. Changes and returns the message. */
  decode(message: Message): Message
}

type Step = { name: string; encode(value: unknown): unknown; decode(value: unknown): unknown }

/** The JSON fields of a message type and of the messages in it; undefined if there are none. Types do not recurse. */
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

/** A field that is not given has no value; null is one of its own in JSON. */
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

/** The value of a field that the wire leaves out although it is not optional. */
function emptyOf(kind: JsonKind): unknown {
  if (kind === 'any') return null
  return kind === 'texts' ? [] : {}
}
