import type * as declared from '@rollcall/protos/gen/types.ts'
import protobuf from 'protobufjs'
import { fullName } from './root.ts'

/** An error in the contract itself. Stops the boot. */
export class ContractError extends Error {
  override name = 'ContractError'
}

/** A message of options.proto, with only the keys that are set. */
type Given<Option> = Partial<Omit<Option, 'format' | 'json'>>
/** Lower-case names of an enum of options.proto, without the unspecified value. */
type NamesOf<Enum extends string> = Lowercase<Exclude<Enum, `${string}_UNSPECIFIED`>>

/** Who may call a route. */
export type AccessOption = Given<declared.Access>
/** What a route returns, if it returns finished bytes. */
export type ReturnsOption = Given<declared.Returns>
/** How the gateway carries a call. */
export type Via = NamesOf<declared.Via>
/** A rate limit that a route can declare. */
export type LimitGroup = NamesOf<declared.LimitGroup>
/** A format of text. */
export type FormatName = NamesOf<declared.RuleFormat>
/** A kind of free JSON. */
export type JsonKind = NamesOf<declared.RuleJson>
/** The validation rule of a field. */
export type RuleOption = Given<declared.Rule> & { format?: FormatName; json?: JsonKind }
/** The kind of a message. */
export type ShapeOption = Given<declared.Shape>
/** The error codes that an rpc declares. */
export type ErrorsOption = Given<declared.Errors>
/** The parts of google.api.http that routes use. */
export type HttpOption = { verb: string; path: string; body: boolean }

/**
 * Returns the options of a service, method, message or field: keys in camel case, enum names in lower case. protobufjs
 * does not check options, so this checks keys and value types against options.proto.
 * @throws {ContractError} for an unknown key, a wrong type or a repeated option
 */
export function readOptions(object: protobuf.ReflectionObject): Readonly<Record<string, unknown>> {
  const known = optionsRead.get(object)
  if (known) return known
  const options = checkedOptions(object)
  optionsRead.set(object, options)
  return options
}

/** Options by object: each is read once, because every start of a service asks for all of them. */
const optionsRead = new WeakMap<protobuf.ReflectionObject, Readonly<Record<string, unknown>>>()

function checkedOptions(object: protobuf.ReflectionObject): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const statement of (object.parsedOptions ?? []) as Record<string, unknown>[]) {
    for (const [name, value] of Object.entries(statement)) {
      if (!/^\((rollcall\.|google\.api\.)?\w+\)$/.test(name)) continue
      const key = name.slice(1, -1).replace(/^rollcall\./, '')
      if (key in options) throw new ContractError(`${fullName(object)}: option ${key} is set twice`)
      options[key] = key.startsWith('google.') ? value : readOption(object, key, value)
    }
  }
  return options
}

function readOption(object: protobuf.ReflectionObject, key: string, value: unknown): unknown {
  const at = `${fullName(object)}: option ${key}`
  const extension = object.root.lookup(`rollcall.${key}`)
  if (!(extension instanceof protobuf.Field)) throw new ContractError(`${at} is not declared in options.proto`)
  const message = extension.resolve().resolvedType
  if (!(message instanceof protobuf.Type)) return readScalar(at, extension, value)
  if (typeof value !== 'object' || value === null) throw new ContractError(`${at} must be a message`)
  const entries = Object.entries(value).map(([name, inner]) => {
    const field = message.fieldsArray.find(field => snakeCase(field.name) === name)
    if (!field) throw new ContractError(`${at} has an unknown key: ${name}`)
    return [field.name, readValue(`${at}.${name}`, field, inner)]
  })
  return Object.fromEntries(entries)
}

function readValue(at: string, field: protobuf.Field, value: unknown): unknown {
  if (!field.repeated) return readScalar(at, field, value)
  return (Array.isArray(value) ? value : [value]).map(item => readScalar(at, field, item))
}

function readScalar(at: string, field: protobuf.Field, value: unknown): unknown {
  const { type, resolvedType } = field.resolve()
  if (resolvedType instanceof protobuf.Enum) return readName(at, resolvedType, value)
  const expected = type === 'bool' ? 'boolean' : type === 'string' ? 'string' : 'number'
  if (typeof value !== expected) throw new ContractError(`${at} must be a ${expected}`)
  return value
}

function readName(at: string, { values }: protobuf.Enum, value: unknown): string {
  const name = String(value)
  if (!Object.hasOwn(values, name) || name.endsWith('_UNSPECIFIED'))
    throw new ContractError(`${at} has an unknown value: ${name}`)
  return name.toLowerCase()
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** Returns the rule of a field; {} if it has none. */
export function ruleOf(field: protobuf.Field): RuleOption {
  return (readOptions(field).rule ?? {}) as RuleOption
}

/** Returns the fields of a message that answers and events show. */
export function shownFieldsOf(type: protobuf.Type): protobuf.Field[] {
  return type.fieldsArray.filter(field => !ruleOf(field).filterOnly)
}

/** Returns the name of a field in queries, bodies and answers. */
export function wireNameOf(field: protobuf.Field): string {
  return ruleOf(field).query ?? field.name
}

/** Returns the shape of a message; {} if it has none. */
export function shapeOf(type: protobuf.Type): ShapeOption {
  return (readOptions(type).shape ?? {}) as ShapeOption
}

/** Returns the http rule of a method; undefined if the rpc is internal. */
export function httpOf(method: protobuf.Method): HttpOption | undefined {
  const http = readOptions(method)['google.api.http'] as Record<string, string> | undefined
  if (!http) return undefined
  const verb = ['get', 'post', 'put', 'patch', 'delete'].find(name => name in http)
  if (!verb) throw new ContractError(`${fullName(method)}: http rule without a verb`)
  const unknown = Object.keys(http).find(key => key !== verb && key !== 'body')
  if (unknown) throw new ContractError(`${fullName(method)}: http rule has an unknown key: ${unknown}`)
  if (http.body !== undefined && http.body !== '*') throw new ContractError(`${fullName(method)}: body must be "*"`)
  return { verb: verb.toUpperCase(), path: http[verb]!, body: http.body === '*' }
}
