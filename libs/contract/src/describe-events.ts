import { type DeclaredEvent, eventsOf } from './declared-events.ts'
import { contractRoot } from './root.ts'
import { COMPONENTS, type Schema, Schemas } from './schemas.ts'

/** An event type as receivers of webhooks need it. */
export type EventDescription = {
  type: string
  description: string
  /** JSON Schema (2020-12) of the whole body. */
  schema: Schema
  /** A whole body that the schema accepts. */
  example: Record<string, unknown>
}

const ID = '64b0c0ffee0123456789abcd'
const AT = '2026-01-31T12:00:00.000Z'

let described: readonly EventDescription[] | undefined

/** Describes every event of the contract, sorted by type. */
export function describeEvents(): readonly EventDescription[] {
  described ??= sortedEvents().map(event => {
    const schemas = new Schemas()
    const body = bodySchema(event, schemas)
    const schema = inlined(body, schemas.finished()) as Schema
    const { test: _, ...example } = exampleOf(schema) as EventDescription['example']
    return { type: event.type, description: descriptionOf(event), schema, example }
  })
  return described
}

/** Returns the `webhooks` of an OpenAPI document. */
export function eventWebhooks(schemas: Schemas): Record<string, Schema> {
  const bodies = sortedEvents().map(event => ({ event, schema: bodySchema(event, schemas) }))
  const examples = new Map(describeEvents().map(({ type, example }) => [type, example]))
  return Object.fromEntries(
    bodies.map(({ event, schema }) => {
      const media = { schema, example: examples.get(event.type) }
      return [event.type, { post: webhookOperation(event, media) }]
    }),
  )
}

function webhookOperation(event: DeclaredEvent, media: Schema): Schema {
  const [summary, ...more] = descriptionOf(event).split(/(?<=\.)\s/)
  return {
    operationId: event.type,
    tags: ['Webhooks'],
    summary: summary!.replace(/\.$/, ''),
    ...(more.length > 0 && { description: more.join(' ') }),
    security: [],
    parameters: Object.keys(webhookHeaders).map(name => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: { 'application/json': media } },
    responses: {
      '2XX': { description: 'Accepted. After any other status, the event is sent again.' },
      410: { description: 'Switches the webhook off.' },
      429: { description: 'Asks for fewer requests. `Retry-After` can say when to send again.' },
    },
  }
}

const header = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

/** The headers of every request to a webhook (Standard Webhooks). */
export const webhookHeaders: Record<string, Schema> = {
  WebhookId: header('webhook-id', "The event's id, the same at every attempt.", {
    type: 'string',
    pattern: '^[0-9a-f]{24}$',
  }),
  WebhookTimestamp: header('webhook-timestamp', 'When this attempt was made, in seconds since 1970.', {
    type: 'string',
    pattern: '^[0-9]{10,12}$',
  }),
  WebhookSignature: header(
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA-256 over `id.timestamp.body`; one for each live secret, separated by spaces.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  ),
}

function sortedEvents(): DeclaredEvent[] {
  return eventsOf(contractRoot()).sort((one, other) => one.type.localeCompare(other.type))
}

function descriptionOf({ type, message }: DeclaredEvent): string {
  return message.comment ?? `A ${type.split('.').join(' was ')}.`
}

function bodySchema({ type, message }: DeclaredEvent, schemas: Schemas): Schema {
  const properties = {
    id: { type: 'string', description: 'Unique; the same at every attempt' },
    type: { const: type },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened' },
    organization: { type: 'string', pattern: '^[0-9a-f]{24}$' },
    data: { oneOf: [schemas.refTo(message), truncated] },
  }
  const test = { const: true, description: 'Whether it is an example that somebody sent' }
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, test } }
}

const truncated = {
  type: 'object',
  description: 'In place of data over 64 KiB: fetch the event',
  required: ['id', 'truncated'],
  properties: { id: { type: 'string', description: 'Of the record' }, truncated: { const: true } },
  additionalProperties: false,
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
