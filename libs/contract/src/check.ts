import type { ListQuery } from '@rollcall/protos/gen/types.ts'
import type protobuf from 'protobufjs'
import { AppError } from './errors.ts'
import { formats } from './formats.ts'
import { ContractError, type JsonKind, type RuleOption, ruleOf, shapeOf, wireNameOf } from './options.ts'
import { clampLimit, clampPage, MAX_LIMIT } from './page.ts'
import { fullName } from './root.ts'

/** The input of a request: path variables, query parameters and the parsed JSON body. */
export type Input = {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, unknown>>
  body?: unknown
}

/** A checked request for the rpc, and headers to add to the answer. */
export type Checked = { request: Record<string, unknown>; headers: Record<string, string> }

type IssueCode = 'request.missing_field' | 'request.extra_field' | 'request.invalid_field' | 'request.empty_array'
const ranks: Record<IssueCode, number> = {
  'request.missing_field': 0,
  'request.extra_field': 1,
  'request.invalid_field': 2,
  'request.empty_array': 3,
}

/** Collects the issues of a body. The answer names the first by rank, then by order. */
export class Issues {
  #worst: { code: IssueCode; path: string; reason?: string } | undefined

  get worst() {
    return this.#worst
  }

  add(code: IssueCode, path: string, reason?: string): undefined {
    if (!this.#worst || ranks[code] < ranks[this.#worst.code]) {
      this.#worst = { code, path, ...(reason !== undefined && { reason }) }
    }
  }

  throwIfAny(): void {
    if (!this.#worst) return
    const { code, ...details } = this.#worst
    throw new AppError(code, details)
  }
}

/** Checks one value. Returns the accepted value, or adds an issue and returns undefined. */
export type ValueCheck = (value: unknown, path: string, issues: Issues) => unknown
type FieldCheck = { name: string; jsonName: string; rule: RuleOption; check: ValueCheck; omitted: unknown }

const CONTROLS = /[\p{Cc}\u2028\u2029]/u

/**
 * Compiles the strict check of a request message, which turns JSON and text into the rpc request. The check runs before
 * encoding because the wire codec is lax: it drops unknown keys and turns "yes" into true.
 * @param variables names of the path variables; with a body, every other field comes from the body
 */
export function compileCheck(
  type: protobuf.Type,
  variables: readonly string[],
  hasBody: boolean,
): (input: Input) => Checked {
  const rest = type.fieldsArray.filter(field => !variables.includes(field.name))
  const checkParams = compileParams(type, variables)
  const checkRest = hasBody ? compileBody(type, rest) : compileQuery(type, rest)
  return input => {
    const request = checkParams(input.params)
    const headers = checkRest(input, request)
    return { request, headers }
  }
}

function compileParams(type: protobuf.Type, variables: readonly string[]) {
  const fields = variables.map(name => {
    const field = type.fields[name]
    if (!field) throw new ContractError(`${fullName(type)} has no field for path variable ${name}`)
    // A path with control characters is an unknown record, not an invalid field.
    return compileField(field, { ...ruleOf(field), controls: true })
  })
  return (params: Input['params']) => {
    const issues = new Issues()
    const request: Record<string, unknown> = {}
    for (const { name, check } of fields) request[name] = check(params[name], name, issues)
    issues.throwIfAny()
    return request
  }
}

function compileBody(type: protobuf.Type, fields: protobuf.Field[]) {
  const check = compileObject(type, fields)
  return (input: Input, request: Record<string, unknown>) => {
    refuseUnknownQuery(input.query, [])
    const { body = {} } = input
    if (!isPlainObject(body)) throw new AppError('request.not_an_object')
    const issues = new Issues()
    check(body, '', issues, request)
    issues.throwIfAny()
    return {}
  }
}

/** Compiles the check of one message level. It adds issues to `issues` and accepted values to `target`. */
function compileObject(type: protobuf.Type, protoFields: protobuf.Field[]) {
  const fields = protoFields.map(field => compileField(field))
  const names = new Set(fields.map(field => field.jsonName))
  const { anyField = false, open: isOpen = false } = shapeOf(type)
  return (value: Record<string, unknown>, prefix: string, issues: Issues, target: Record<string, unknown>) => {
    for (const field of fields) {
      if (!Object.hasOwn(value, field.jsonName)) {
        if (field.rule.required) issues.add('request.missing_field', prefix + field.jsonName)
        if (field.omitted !== undefined) target[field.name] = field.omitted
        continue
      }
      target[field.name] = field.check(value[field.jsonName], prefix + field.jsonName, issues)
    }
    const keys = Object.keys(value)
    if (anyField && keys.length === 0 && fields[0]) issues.add('request.missing_field', prefix + fields[0].jsonName)
    if (!isOpen) for (const key of keys) if (!names.has(key)) issues.add('request.extra_field', prefix + key)
  }
}

function compileField(field: protobuf.Field, rule = ruleOf(field)): FieldCheck {
  const single = compileValue(field, rule)
  return {
    name: field.name,
    jsonName: wireNameOf(field),
    rule,
    check: field.repeated ? compileArray(single, rule) : single,
    omitted: field.repeated ? [] : undefined,
  }
}

export function compileArray(checkItem: ValueCheck, rule: RuleOption): ValueCheck {
  const maxItems = rule.maxItems ?? 10_000
  return (value, path, issues) => {
    if (!Array.isArray(value)) return issues.add('request.invalid_field', path, 'must be an array')
    if (value.length > maxItems) return issues.add('request.invalid_field', path, `at most ${maxItems} items`)
    if (value.length === 0 && rule.nonEmpty) return issues.add('request.empty_array', path)
    return value.map((item, index) => checkItem(item, `${path}.${index}`, issues))
  }
}

function compileValue(field: protobuf.Field, rule: RuleOption): ValueCheck {
  const check = rule.json ? jsonCheck(rule.json, rule) : compileTyped(field, rule)
  if (!rule.nullable) return check
  return (value, path, issues) => (value === null ? '' : check(value, path, issues))
}

function compileTyped(field: protobuf.Field, rule: RuleOption): ValueCheck {
  field.resolve()
  const message = field.resolvedType && 'fieldsArray' in field.resolvedType ? field.resolvedType : undefined
  if (message) return messageCheck(message)
  switch (field.type) {
    case 'string':
      return stringCheck(rule)
    case 'bool':
      return (value, path, issues) =>
        typeof value === 'boolean' ? value : issues.add('request.invalid_field', path, 'must be true or false')
    case 'int32':
    case 'int64':
    case 'double':
      return numberCheck(field.type, rule)
    default:
      return (_value, path, issues) => issues.add('request.invalid_field', path)
  }
}

function messageCheck(type: protobuf.Type): ValueCheck {
  const check = compileObject(type, type.fieldsArray)
  return (value, path, issues) => {
    if (!isPlainObject(value)) return issues.add('request.invalid_field', path, 'must be an object')
    const target: Record<string, unknown> = {}
    check(value, `${path}.`, issues, target)
    return target
  }
}

export function stringCheck(rule: RuleOption): ValueCheck {
  const minLength = Math.max(rule.minLen ?? 0, rule.required ? 1 : 0)
  const maxLength = rule.maxLen ?? 10_000
  const format = rule.format && formats[rule.format]
  const allowed = rule.oneOf?.split(' ')
  return (value, path, issues) => {
    if (typeof value !== 'string') return issues.add('request.invalid_field', path, 'must be a string')
    const text = rule.trim ? value.trim() : value
    if (text.length < minLength) {
      return issues.add(
        'request.invalid_field',
        path,
        minLength === 1 ? 'must not be empty' : `at least ${minLength} characters`,
      )
    }
    if (text.length > maxLength) return issues.add('request.invalid_field', path, `at most ${maxLength} characters`)
    if (!rule.controls && CONTROLS.test(text))
      return issues.add('request.invalid_field', path, 'must not contain line breaks or other control characters')
    if (allowed && !allowed.includes(text))
      return issues.add('request.invalid_field', path, `must be one of ${allowed.join(', ')}`)
    if (!format) return text
    return format.read(text) ?? issues.add('request.invalid_field', path, format.reason)
  }
}

export function numberCheck(type: string, rule: RuleOption): ValueCheck {
  const integer = type !== 'double'
  const bound = type === 'int32' ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule
  return (value, path, issues) => {
    if (
      typeof value !== 'number' ||
      !(integer ? Number.isInteger(value) && Math.abs(value) <= bound : Number.isFinite(value))
    )
      return issues.add('request.invalid_field', path, integer ? 'must be an integer' : 'must be a number')
    if (value >= min && value <= max) return value
    return issues.add('request.invalid_field', path, `must be from ${min} to ${max}`)
  }
}

/** Whether a free JSON object of a kind may hold a value. */
const jsonValues: Record<Exclude<JsonKind, 'any' | 'texts'>, (value: unknown) => boolean> = {
  object: () => true,
  strings: value => typeof value === 'string',
  flags: value => value === null || typeof value === 'boolean',
  scalars: value => value === null || typeof value !== 'object',
}

/** Compiles the check of free JSON of a kind. */
export function jsonCheck(kind: JsonKind, rule: RuleOption): ValueCheck {
  if (kind === 'any') return value => value
  if (kind === 'texts') return compileArray(stringCheck({ ...rule, required: false }), rule)
  const accepts = jsonValues[kind]
  return (value, path, issues) => {
    if (!isPlainObject(value)) return issues.add('request.invalid_field', path, 'must be an object')
    for (const [key, inner] of Object.entries(value)) {
      if (!accepts(inner)) return issues.add('request.invalid_field', `${path}.${key}`)
    }
    return value
  }
}

function compileQuery(type: protobuf.Type, fields: protobuf.Field[]) {
  const { open: isOpen = false } = shapeOf(type)
  const list = fields.find(field => field.resolve().resolvedType?.fullName === '.rollcall.ListQuery')
  const own = fields
    .filter(field => field !== list)
    .map(field => ({ ...compileField(field), read: queryReader(field) }))
  const known = [...(list ? listParameters : []), ...own.map(field => field.jsonName)]
  return ({ query }: Input, request: Record<string, unknown>): Record<string, string> => {
    const issues = new Issues()
    for (const { name, jsonName, rule, check, read } of own) {
      const value = query[jsonName]
      if (value !== undefined) request[name] = check(read(value), jsonName, issues)
      else if (rule.required) issues.add('request.missing_field', jsonName)
    }
    issues.throwIfAny()
    if (!isOpen) refuseUnknownQuery(query, known)
    if (!list) return {}
    request[list.name] = checkListQuery(query)
    return Math.floor(numberOf(query.$limit)) > MAX_LIMIT ? { 'X-Limit-Clamped': String(MAX_LIMIT) } : {}
  }
}

/** Returns a function that reads the text of a query parameter as the type of its field. Invalid texts stay texts. */
function queryReader({ type }: protobuf.Field): (value: unknown) => unknown {
  if (type === 'bool') return value => (value === 'true' ? true : value === 'false' ? false : value)
  const isNumber = ['int32', 'int64', 'double'].includes(type)
  return value => (isNumber && typeof value === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value)
}

const listTexts = ['filter', 'sort', 'populate', 'projection'] as const
const listParameters = ['$page', '$limit', 'pagination', ...listTexts]

/** Checks the shared list parameters. A page or limit that is not a positive number is ignored. */
function checkListQuery(query: Input['query']): ListQuery {
  const checked: ListQuery = { page: clampPage(numberOf(query.$page)), limit: clampLimit(numberOf(query.$limit)) }
  for (const name of listTexts) {
    const text = query[name]
    if (text === undefined || text === '') continue
    if (typeof text !== 'string')
      throw new AppError('request.invalid_field', { path: name, reason: 'given more than once' })
    checked[name] = text
  }
  if (query.pagination !== undefined) {
    if (query.pagination !== 'true' && query.pagination !== 'false') {
      throw new AppError('request.invalid_field', { path: 'pagination', reason: 'must be true or false' })
    }
    checked.pagination = query.pagination === 'true'
  }
  return checked
}

function numberOf(text: unknown): number {
  return typeof text === 'string' ? Number(text) : Number.NaN
}

function refuseUnknownQuery(query: Input['query'], known: readonly string[]): void {
  const extra = Object.keys(query).find(name => !known.includes(name))
  if (extra !== undefined) throw new AppError('request.extra_field', { path: extra })
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
