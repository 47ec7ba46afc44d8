import type protobuf from 'protobufjs'
import { fullName } from './root.ts'

/** A mistake in the contract itself: it stops the boot and says where. */
export class ContractError extends Error {
  override name = 'ContractError'
}

/** The declared access of a route, as typed in options.proto. */
export type AccessOption = {
  resource?: string
  caller?: boolean
  public?: boolean
  control_plane?: boolean
  scoped_as?: string
  also?: string
}
/** What a route answers, where it answers finished bytes. */
export type ReturnsOption = {
  page_of?: string
  array_of?: string
  record?: string
  download?: string
  status?: number
  secret?: boolean
}
/** What a field must be like. */
export type RuleOption = {
  required?: boolean
  nullable?: boolean
  min_len?: number
  max_len?: number
  max_items?: number
  non_empty?: boolean
  trim?: boolean
  controls?: boolean
  format?: string
  one_of?: string
  json?: string
  query?: string
  file?: boolean
}
/** What a message is. */
export type ShapeOption = { record?: boolean; entry?: boolean; any_field?: boolean; open?: boolean; event?: string }
/** The parts of google.api.http that routes use. */
export type HttpOption = { verb: string; path: string; body: boolean }

const closedValues: Record<string, ReadonlySet<unknown>> = {
  'rule.format': new Set(['object_id', 'email', 'date', 'url', 'cidr']),
  'rule.json': new Set(['object', 'strings', 'flags', 'scalars', 'texts', 'any']),
}

/**
 * Reads the options of a method, message or field. protobufjs does not check options at all, so every key is held
 * against the extension that options.proto declares, and every value against the type it has there.
 */
export function readOptions(object: protobuf.ReflectionObject): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const statement of (object.parsedOptions ?? []) as Record<string, unknown>[]) {
    for (const [name, value] of Object.entries(statement)) {
      if (!/^\((rollcall\.|google\.api\.)?\w+\)$/.test(name)) continue
      const key = name.slice(1, -1).replace(/^rollcall\./, '')
      if (key in options) throw new ContractError(`${fullName(object)}: option ${key} stands twice`)
      if (!key.startsWith('google.')) checkOption(object, key, value)
      options[key] = value
    }
  }
  return options
}

function checkOption(object: protobuf.ReflectionObject, key: string, value: unknown): void {
  const at = `${fullName(object)}: option ${key}`
  const extension = object.root.lookup(`rollcall.${key}`) as protobuf.Field | null
  if (!extension || !('type' in extension)) throw new ContractError(`${at} is not declared in options.proto`)
  const declared = extension.resolvedType as protobuf.Type | null
  if (!declared) {
    checkScalar(at, extension.type, value)
    return
  }
  if (typeof value !== 'object' || value === null) throw new ContractError(`${at} must be a message`)
  for (const [name, inner] of Object.entries(value)) {
    const field = declared.fieldsArray.find(f => snakeCase(f.name) === name)
    if (!field) throw new ContractError(`${at} has an unknown key: ${name}`)
    checkScalar(`${at}.${name}`, field.type, inner)
    const allowed = closedValues[`${key}.${name}`]
    if (allowed && !allowed.has(inner)) throw new ContractError(`${at}.${name} has an unknown value: ${inner}`)
  }
}

function checkScalar(at: string, type: string, value: unknown): void {
  const expected = type === 'bool' ? 'boolean' : type === 'string' ? 'string' : 'number'
  const actual = typeof value
  if (actual !== expected) throw new ContractError(`${at} must be a ${expected}`)
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** The rule of a field; {} where it has none. */
export function ruleOf(field: protobuf.Field): RuleOption {
  return (readOptions(field).rule ?? {}) as RuleOption
}

/** What a field is called in queries, bodies and answers. */
export function wireNameOf(field: protobuf.Field): string {
  return ruleOf(field).query ?? field.name
}

/** The shape of a message; {} where it has none. */
export function shapeOf(type: protobuf.Type): ShapeOption {
  return (readOptions(type).shape ?? {}) as ShapeOption
}

/** The http rule of a method; undefined where the rpc is internal. */
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
