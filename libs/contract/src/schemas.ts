import protobuf from 'protobufjs'
import { formats } from './formats.ts'
import { declaredTypesOf, integers } from './json-types.ts'
import { ContractError, type JsonKind, type RuleOption, ruleOf, shapeOf, shownFieldsOf, wireNameOf } from './options.ts'
import { fullName } from './root.ts'

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>

/** Where references of schemas lead. */
export const COMPONENTS = '#/components/schemas/'

/** Component schemas, generated from messages on demand. */
export class Schemas {
  readonly #made = new Map<string, Schema>()
  /** Full names of their messages. */
  readonly #messages = new Map<string, string>()

  finished(): Record<string, Schema> {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => a.localeCompare(b)))
  }

  /** Returns a reference to the schema of a message in an answer. @throws {ContractError} for two messages of one name */
  refTo(type: protobuf.Type): Schema {
    const name = fullName(type)
      .split('.')
      .slice(type.parent instanceof protobuf.Type ? -2 : -1)
      .join('')
    const [message, known] = [fullName(type), this.#messages.get(name)]
    if (known && known !== message) throw new ContractError(`${known} and ${message} have one name`)
    if (!known) {
      this.#messages.set(name, message)
      this.#made.set(name, this.#recordSchema(type))
    }
    return { $ref: `${COMPONENTS}${name}` }
  }

  ofRequest(type: protobuf.Type, fields: protobuf.Field[]): Schema {
    const required = fields.filter(field => ruleOf(field).required).map(wireNameOf)
    return {
      type: 'object',
      ...(type.comment && { description: type.comment }),
      properties: Object.fromEntries(
        fields.map(field => [wireNameOf(field), withoutControls(field, this.ofField(field, true))]),
      ),
      ...(required.length > 0 && { required }),
      ...(shapeOf(type).anyField && { minProperties: 1 }),
      additionalProperties: shapeOf(type).open ?? false,
    }
  }

  #recordSchema(type: protobuf.Type): Schema {
    const own = shownFieldsOf(type).map(field => [wireNameOf(field), this.ofField(field, true)] as const)
    const id = { type: 'string', pattern: '^[0-9a-f]{24}$', minLength: 24, maxLength: 24 }
    const date = { type: 'string', format: 'date-time' }
    const { record, entry, open: isOpen = false } = shapeOf(type)
    const properties: Record<string, Schema> = {
      ...((record || entry) && { _id: id, id }),
      ...Object.fromEntries(own),
      ...(record && { createdAt: date, updatedAt: date }),
    }
    const optional = new Set(type.fieldsArray.filter(field => field.options?.proto3_optional).map(wireNameOf))
    return {
      type: 'object',
      ...(type.comment && { description: type.comment }),
      properties,
      required: Object.keys(properties).filter(name => !optional.has(name)),
      additionalProperties: isOpen,
    }
  }

  /** Returns the schema of a field. `described` adds the comment; a parameter has its own place for it. */
  ofField(field: protobuf.Field, described: boolean): Schema {
    const rule = ruleOf(field)
    const single = this.#single(field, rule)
    const schema = field.repeated
      ? { type: 'array', items: single, ...arrayBounds(rule) }
      : rule.nullable
        ? nullable(single)
        : single
    return described && field.comment ? { ...schema, description: field.comment } : schema
  }

  #single(field: protobuf.Field, rule: RuleOption): Schema {
    const declared = declaredTypesOf(field)?.map(type =>
      type instanceof protobuf.Type ? this.refTo(type) : type.schema,
    )
    if (declared) return declared.length === 1 ? declared[0]! : { oneOf: declared }
    if (rule.json) return freeJson(rule.json, rule)
    const type = field.resolve().resolvedType
    if (type instanceof protobuf.Type) return this.refTo(type)
    if (field.type === 'bool') return { type: 'boolean' }
    if (field.type === 'int32' || field.type === 'int64') return { ...integers[field.type], ...numberBounds(rule) }
    if (field.type === 'double') return { type: 'number', ...numberBounds(rule) }
    return textSchema(rule)
  }
}

function textSchema(rule: RuleOption): Schema {
  const minLength = Math.max(rule.minLen ?? 0, rule.required ? 1 : 0)
  return {
    type: 'string',
    ...(rule.format && formats[rule.format].schema),
    ...(rule.oneOf && { enum: rule.oneOf.split(' ') }),
    ...(minLength > 0 && { minLength }),
    ...(rule.maxLen && { maxLength: rule.maxLen }),
  }
}

/** Adds a pattern against control characters to the schema of a request field, portable to every regex dialect. */
function withoutControls(field: protobuf.Field, schema: Schema): Schema {
  const { controls = false, format, json, oneOf } = ruleOf(field)
  const isLine = field.type === 'string' && !field.repeated && !controls && !format && !json && !oneOf
  return isLine ? { ...schema, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' } : schema
}

function numberBounds({ min, max }: RuleOption): Schema {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
}

function arrayBounds(rule: RuleOption): Schema {
  return { ...(rule.maxItems && { maxItems: rule.maxItems }), ...(rule.nonEmpty && { minItems: 1 }) }
}

function freeJson(kind: JsonKind, rule: RuleOption): Schema {
  if (kind === 'any')
    return rule.format ? { oneOf: [textSchema(rule), { type: 'object', additionalProperties: true }] } : {}
  if (kind === 'texts') return { type: 'array', items: textSchema(rule), ...arrayBounds(rule) }
  const values: Partial<Record<JsonKind, Schema>> = {
    strings: { type: 'string' },
    flags: { type: ['boolean', 'null'] },
    scalars: { type: ['string', 'number', 'boolean', 'null'] },
  }
  return { type: 'object', additionalProperties: values[kind] ?? true }
}

function nullable(schema: Schema): Schema {
  if (Array.isArray(schema.oneOf)) return { ...schema, oneOf: [...schema.oneOf, { type: 'null' }] }
  if (typeof schema.type !== 'string')
    return 'type' in schema || '$ref' in schema ? { oneOf: [schema, { type: 'null' }] } : schema
  const nullableEnum = Array.isArray(schema.enum) && { enum: [...schema.enum, null] }
  return { ...schema, type: [schema.type, 'null'], ...nullableEnum }
}
