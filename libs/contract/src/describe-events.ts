import { eventsOf } from './declared-events.ts'
import { type Schema, Schemas } from './openapi.ts'
import { contractRoot } from './root.ts'

/** An event type as receivers of webhooks need it. */
export type EventDescription = {
  type: string
  description: string
  /** JSON Schema (2020-12) of the whole body. */
  schema: Schema
  /** A whole body that the schema accepts. */
  example: Record<string, unknown>
}

const COMPONENTS = '#/components/schemas/'
const ID = '64b0c0ffee0123456789abcd'
const AT = '2026-01-31T12:00:00.000Z'

let described: readonly EventDescription[] | undefined

/** Describes every event of the contract, sorted by type. */
export function describeEvents(): readonly EventDescription[] {
  described ??= eventsOf(contractRoot())
    .map(({ type, message }) => {
      const schemas = new Schemas()
      const data = schemas.refTo(message)
      const definitions = schemas.finished()
      const schema = inlined(bodySchema(type, data), definitions) as Schema
      const description = message.comment ?? `A ${type.split('.').join(' was ')}.`
      return { type, description, schema, example: exampleOf(schema) as EventDescription['example'] }
    })
    .sort((one, other) => one.type.localeCompare(other.type))
  return described
}

function bodySchema(type: string, data: Schema): Schema {
  const properties = {
    id: { type: 'string', description: 'Unique; the same at every attempt' },
    type: { const: type },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened' },
    organization: { type: 'string', pattern: '^[0-9a-f]{24}$' },
    data,
  }
  return { type: 'object', required: Object.keys(properties), properties }
}

/** Returns a schema with the definitions that it refers to in their places, so that it stands alone. */
function inlined(schema: unknown, definitions: Record<string, Schema>): unknown {
  if (Array.isArray(schema)) return schema.map(each => inlined(each, definitions))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Schema
  const whole = typeof $ref === 'string' ? { ...definitions[$ref.slice(COMPONENTS.length)], ...rest } : rest
  return Object.fromEntries(Object.entries(whole).map(([name, each]) => [name, inlined(each, definitions)]))
}

/** Returns a value that a schema accepts. */
function exampleOf(schema: Schema, name = ''): unknown {
  if ('const' in schema) return schema.const
  const choices = (schema.enum ?? schema.anyOf ?? schema.oneOf) as unknown[] | undefined
  if (schema.enum) return choices![0]
  if (choices) return exampleOf(choices[0] as Schema, name)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return exampleObject(schema)
    case 'array':
      return schema.items ? [exampleOf(schema.items as Schema, name)] : []
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return exampleText(schema, name)
  }
}

function exampleObject({ properties = {} }: Schema): unknown {
  const entries = Object.entries(properties as Record<string, Schema>)
  return Object.fromEntries(entries.map(([name, each]) => [name, exampleOf(each, name)]))
}

function exampleText({ format, pattern }: Schema, name: string): string {
  if (format === 'date-time' || name === 'timestamp') return AT
  if (format === 'email' || /email/i.test(name)) return 'contact.one@example.com'
  if (format === 'uri' || name === 'url') return 'https://example.com/'
  if (typeof pattern === 'string' && pattern.includes('{24}')) return ID
  return /(^|_|[a-z])(id|Id)$/.test(name) ? ID : name
}
