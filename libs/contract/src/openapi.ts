import protobuf from 'protobufjs'
import { codeSamplesOf } from './code-samples.ts'
import { eventWebhooks, webhookHeaders } from './describe-events.ts'
import { type ErrorCode, entryOf, errorCodes, errorTextOf } from './errors/catalogue.ts'
import type { Example, Examples } from './examples.ts'
import { integers } from './json-types.ts'
import { limits } from './limits.ts'
import { ruleOf, shapeOf, wireNameOf } from './options.ts'
import { statusOn } from './route-errors.ts'
import { acceptsIdempotencyKey, speaksOAuth } from './route-traits.ts'
import { findMessage, type Route } from './routes.ts'
import { type Schema, Schemas } from './schemas.ts'

type Operation = Record<string, unknown>
/** An OpenAPI 3.1 document. */
export type OpenApi = {
  openapi: string
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  /** The requests that webhooks get, by type of event. */
  webhooks: Record<string, Schema>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Schema>
    securitySchemes: Record<string, Schema>
    headers: Record<string, Schema>
    responses: Record<string, Schema>
  }
  [key: string]: unknown
}

const errorRef = (name: string): Schema => ({ $ref: `#/components/responses/${name}` })

/** Generates the OpenAPI 3.1 document of the routes from the protos and their comments, with examples if given. */
export function generateOpenApi(routes: readonly Route[], version: string, examples: Examples = {}): OpenApi {
  const schemas = new Schemas()
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.verb.toLowerCase()] = operationOf(route, schemas, examples[route.call])
  }
  const webhooks = eventWebhooks(schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollcall',
      version,
      description: `Administration API: audience, imports, sending domains, API tokens, users.

Rate limits apply per client address: tokens behind one address share them. An organization may have 8 concurrent streams
(exports, downloads and lists with \`pagination=false\`). A request that takes more than 30 seconds to arrive gets a 400, as
does an upload slower than 16 KiB/s. A client that reads nothing of its answer for 30 seconds is disconnected.
\`x-permission\` is the permission that a route requires. \`x-error-codes\` lists the values of the header \`X-Error-Code\` by
status, \`x-errors\` the text of each. Routes with \`x-scope\` only authenticate: a credential limited to a scope needs that
permission (\`any\`: no permission; \`none\`: such a credential is refused). \`x-sdk\` is the call of the TypeScript SDK,
\`x-limit\` the stricter limit of a route besides the global one.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '/',
        description: 'The gateway that serves this document: production, staging or local',
        'x-internal': false,
      },
    ],
    tags: tagsOf(routes),
    security: anyCredential,
    paths,
    webhooks,
    components: {
      schemas: schemas.finished(),
      parameters: webhookHeaders,
      securitySchemes,
      headers,
      responses: Object.fromEntries(
        Object.entries(errorResponses).map(([name, made]) => [name, withErrorHeaders(made)]),
      ),
    },
    'x-errors': Object.fromEntries(errorCodes.map(errorOf)),
  }
}

/** Returns a tag for each service, with the service's comment. */
function tagsOf(routes: readonly Route[]): OpenApi['tags'] {
  const services = new Set(routes.map(({ rpc }) => rpc.parent!))
  return [...services].map(({ name, comment }) => ({ name, description: comment ?? '' }))
}

function errorOf(code: ErrorCode): [code: ErrorCode, error: { status: number; message: string }] {
  return [code, { status: entryOf(code).http, message: errorTextOf(code) }]
}

const anyCredential = [{ bearer: [] }, { cookie: [] }]

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A session JWT, or an API token `<orgId>:<secret>`. The prefix `Bearer ` may be left out.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'auth_token',
    description:
      'Set by signing in; used by the console. Over https its name is `__Host-auth_token`, which takes precedence over `auth_token` and `authorization`, in this order.',
  },
}

const errorBody: Schema = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { const: true }, message: { type: 'string' }, path: { type: 'string' } },
  additionalProperties: false,
}
const refusedBody: Schema = {
  type: 'object',
  required: ['success', 'message'],
  properties: { success: { const: false }, message: { type: 'string' } },
  additionalProperties: false,
}
const count = { ...integers.int32, minimum: 0 }
const header = (description: string, schema: Schema): Schema => ({ description, required: true, schema })
const headers: Record<string, Schema> = {
  'RateLimit-Limit': header('Requests that one client address may make in a window.', count),
  'RateLimit-Remaining': header('Requests left in the current window.', count),
  'RateLimit-Reset': header('Seconds until the window ends.', count),
  'RateLimit-Policy': header('The limit and the seconds of its window: `500;w=3`.', {
    type: 'string',
    pattern: '^[0-9]+;w=[0-9]+$',
    maxLength: 40,
  }),
  'X-Request-Id': header(
    'Id of the request: the one that it came with, or a new one. Quote it when you report a problem.',
    {
      type: 'string',
      pattern: '^[\\w.:=+/-]{1,128}$',
    },
  ),
  'X-Error-Code': header('The error code. `x-error-codes` of an operation lists its possible values.', {
    type: 'string',
    enum: errorCodes,
  }),
  'Retry-After': header('Seconds to wait before the next attempt.', count),
  'WWW-Authenticate': header('Why the credential is refused, as `error_description`.', { type: 'string' }),
  'Content-Disposition': header('The name of the file.', { type: 'string' }),
  'X-Limit-Clamped': {
    description: 'The number of records that a page has at most, if the request asked for more.',
    schema: count,
  },
  'Idempotency-Replayed': {
    description: 'Whether this is the answer that an earlier request with the key got.',
    schema: { const: 'true' },
  },
}
const headerRefs = (...names: string[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
/** The headers of every answer. */
const answerHeaders = headerRefs(
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'X-Request-Id',
)
const retried = { headers: headerRefs('Retry-After') }
const jsonResponse = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
})
const oauthBody: Schema = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
  additionalProperties: false,
}
const errorResponses: Record<string, Schema> = {
  BadRequest: jsonResponse('Invalid request: a missing, extra, invalid or empty field.', {
    oneOf: [errorBody, refusedBody],
  }),
  Unauthorized: {
    description: 'No valid credential. The reason is in `WWW-Authenticate`.',
    content: { 'text/plain': { schema: { const: 'Unauthorized' } } },
    headers: headerRefs('WWW-Authenticate'),
  },
  Forbidden: jsonResponse('Not allowed.', { oneOf: [errorBody, refusedBody] }),
  NotFound: jsonResponse('No such record.', errorBody),
  Conflict: jsonResponse('Conflict: duplicate value, or another record depends on this one.', errorBody),
  OAuthError: {
    ...jsonResponse('OAuth error response (RFC 6749 §5.2).', oauthBody),
    headers: {
      'WWW-Authenticate': {
        description: 'The scheme to authenticate the client with, if it failed to.',
        schema: { type: 'string' },
      },
    },
  },
  TooManyRequests: { ...jsonResponse('Rate limit exceeded; see `Retry-After`.', refusedBody), ...retried },
  Unavailable: {
    ...jsonResponse('A dependency of the service is unavailable; see `Retry-After`.', errorBody),
    ...retried,
  },
}

function withErrorHeaders(response: Schema): Schema {
  return { ...response, headers: { ...answerHeaders, ...headerRefs('X-Error-Code'), ...(response.headers as object) } }
}

/** Returns the permissions that a route requires, separated by spaces. */
function permissionsOf({ resource, action, also }: Extract<Route['access'], { kind: 'permission' }>): string {
  return [`${resource}.${action}`, ...(also ? [also] : [])].join(' ')
}

/** Returns the error codes of a route by HTTP status. */
function codesByStatus(route: Route): Record<number, ErrorCode[]> {
  const codes: Record<number, ErrorCode[]> = {}
  for (const code of route.errors) {
    const status = statusOn(route, code)
    codes[status] ??= []
    codes[status].push(code)
  }
  return codes
}

function responseName(route: Route, status: number): string {
  return speaksOAuth(route) && (status === 400 || status === 401) ? 'OAuthError' : responseNames[status]!
}

const responseNames: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  503: 'Unavailable',
}

function operationOf(route: Route, schemas: Schemas, example?: Example): Operation {
  const { variables } = route
  const request = route.rpc.resolvedRequestType!
  const rest = request.fieldsArray.filter(field => !variables.includes(field.name))
  const { credential } = route.carrier
  const codes = codesByStatus(route)
  const [summary, ...more] = (route.rpc.comment ?? '').split(/(?<=\.)\s/)
  return {
    operationId: route.method,
    tags: [route.rpc.parent!.name],
    summary: summary?.replace(/\.$/, ''),
    ...(more.length > 0 && { description: more.join(' ') }),
    ...(route.access.kind === 'public' && { security: credential === 'session' ? [{}, ...anyCredential] : [] }),
    ...(route.access.kind === 'permission' && { 'x-permission': permissionsOf(route.access) }),
    ...(route.access.kind === 'caller' && { 'x-scope': route.access.scope }),
    ...(route.carrier.answer !== 'redirect' && { 'x-sdk': route.call }),
    ...(route.limit && { 'x-limit': limits[route.limit] }),
    parameters: [
      ...variables.map((name, at) => ({
        ...parameter('path', name, request.fields[name]!, schemas, true),
        ...(example && { example: example.path[at] }),
      })),
      ...(route.hasBody ? [] : rest.flatMap(field => queryParameters(field, schemas, example?.query))),
      ...(acceptsIdempotencyKey(route) ? [idempotencyKey] : []),
    ],
    ...(route.hasBody && rest.length > 0 && { requestBody: requestBody(route, request, rest, schemas, example) }),
    'x-error-codes': codes,
    ...(example && { 'x-codeSamples': codeSamplesOf(route, example) }),
    responses: {
      [route.status]: withAnswer(route, success(route, schemas), example),
      ...(route.returns.accepted !== undefined && { 202: withAnswer(route, accepted(route, schemas)) }),
      ...Object.fromEntries(Object.keys(codes).map(status => [status, errorRef(responseName(route, Number(status)))])),
    },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: [
    'Makes the request safe to retry. For 24 hours, a request with the same key and content (for a file: the same name and bytes) is not executed again.',
    'It gets the first answer, with `Idempotency-Replayed: true`.',
    '409: the key was used for another request; the request is still running; it ended without an answer (a 503, a lost connection), so its outcome is unknown;',
    'or it succeeded, but its answer holds a secret or is too long (over 2 KiB compressed) and was not stored.',
    'A refused request releases the key. 429: the credential or its organization has too many keys in use (by default 1,000 and 10,000). Requests without a key still work.',
  ].join(' '),
  schema: { type: 'string', pattern: '^[!-~]{1,255}$', minLength: 1, maxLength: 255 },
}

/** Adds the headers of the answer, and the recorded one. */
function withAnswer(route: Route, response: Schema, example?: Example): Schema {
  const content = Object.entries((response.content ?? {}) as Record<string, Schema>)
  const shown = content.map(([type, media]) => [type, { ...media, ...(example && { example: example.answer }) }])
  return {
    ...response,
    headers: { ...answerHeaders, ...headersOf(route), ...(response.headers as object) },
    content: Object.fromEntries(shown),
  }
}

function headersOf(route: Route): Schema {
  return {
    ...(route.returns.pageOf !== undefined && headerRefs('X-Limit-Clamped')),
    ...(route.returns.download !== undefined && headerRefs('Content-Disposition')),
    ...(acceptsIdempotencyKey(route) && headerRefs('Idempotency-Replayed')),
  }
}

function queryParameters(field: protobuf.Field, schemas: Schemas, given: Example['query'] = {}): Schema[] {
  const type = field.resolve().resolvedType
  if (type instanceof protobuf.Type) return type.fieldsArray.flatMap(inner => queryParameters(inner, schemas, given))
  const described = parameter('query', wireNameOf(field), field, schemas, ruleOf(field).required ?? false)
  const value = given[field.name]
  if (value === undefined) return [described]
  return [{ ...described, example: typeof value === 'object' ? JSON.stringify(value) : value }]
}

function parameter(where: string, name: string, field: protobuf.Field, schemas: Schemas, required: boolean): Schema {
  return {
    name,
    in: where,
    required,
    ...(field.comment && { description: field.comment }),
    schema: schemas.ofField(field, false),
  }
}

function requestBody(
  route: Route,
  type: protobuf.Type,
  fields: protobuf.Field[],
  schemas: Schemas,
  example?: Example,
): Schema {
  if (route.carrier.body === 'multipart') {
    const file = fields.find(field => ruleOf(field).file)!
    const name = wireNameOf(file)
    const schema = { type: 'object', required: [name], properties: { [name]: { type: 'string', format: 'binary' } } }
    return { required: true, content: { 'multipart/form-data': { schema } } }
  }
  const required = fields.some(field => ruleOf(field).required) || (shapeOf(type).anyField ?? false)
  const media = {
    schema: schemas.ofRequest(type, fields),
    ...(example?.body !== undefined && { example: example.body }),
  }
  const form = route.carrier.body === 'form_or_json' && { 'application/x-www-form-urlencoded': media }
  return { required, content: { ...form, 'application/json': media } }
}

function accepted(route: Route, schemas: Schemas): Schema {
  return jsonResponse('The job that goes on.', schemas.refTo(route.rpc.resolvedResponseType!))
}

function success(route: Route, schemas: Schemas): Schema {
  const { pageOf, arrayOf, record, download } = route.returns
  if (route.carrier.answer === 'redirect') {
    const location = { description: 'Target of the redirect.', schema: { type: 'string', format: 'uri' } }
    const done = jsonResponse('Redirects the browser.', schemas.refTo(route.rpc.resolvedResponseType!))
    return { ...done, headers: { Location: location } }
  }
  if (download?.endsWith('.json')) return jsonResponse(`A JSON file, ${download}.`, { type: 'object' })
  if (download !== undefined)
    return { description: `A CSV file, ${download}.`, content: { 'text/csv': { schema: { type: 'string' } } } }
  const named = pageOf ?? arrayOf ?? record
  const item =
    named === undefined ? schemas.refTo(route.rpc.resolvedResponseType!) : schemas.refTo(findMessage(route.rpc, named)!)
  if (arrayOf !== undefined) return jsonResponse('All items.', { type: 'array', items: item })
  if (pageOf !== undefined)
    return jsonResponse('A page, or a plain array with pagination=false.', {
      oneOf: [pageSchema(item), { type: 'array', items: item }],
    })
  return jsonResponse('Success.', item)
}

/** Returns the schema of a page. */
function pageSchema(item: Schema): Schema {
  const pageOrNull = { ...count, type: ['integer', 'null'] }
  const properties = {
    docs: { type: 'array', items: item },
    totalDocs: count,
    limit: count,
    page: count,
    totalPages: count,
    pagingCounter: { ...integers.int64, minimum: 0 },
    hasPrevPage: { type: 'boolean' },
    hasNextPage: { type: 'boolean' },
    prevPage: pageOrNull,
    nextPage: pageOrNull,
  }
  return { type: 'object', required: Object.keys(properties), properties, additionalProperties: false }
}
