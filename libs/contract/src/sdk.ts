import protobuf from 'protobufjs'
import { eventsOf } from './declared-events.ts'
import { errorCodes, errorTextOf } from './errors/catalogue.ts'
import { fieldTable } from './field-table.ts'
import { ContractError, type RuleOption, ruleOf, shapeOf, wireNameOf } from './options.ts'
import { acceptsIdempotencyKey, startsJob } from './route-traits.ts'
import { findMessage, type Route } from './routes.ts'
import { comment, HEADER, jsonType, jsonTypeOf, reachableFrom, typeName } from './typescript.ts'

/**
 * Generates the SDK's own files for routes: `types.ts` (records, bodies, error codes and `Api`, which has a method for
 * each route), `routes.ts` (how each method is sent, and the permissions it needs), `fields.ts` (what forms need to know
 * of bodies), `error-texts.ts` (the text of each code, for translations) and `events.ts` (the data of every event). Routes
 * that redirect a browser are left out.
 * @returns file contents by file name
 * @throws {ContractError} if two messages would have one name
 */
export function generateSdk(root: protobuf.Root, routes: readonly Route[]): Map<string, string> {
  const calls = routes.filter(route => route.carrier.answer !== 'redirect')
  const answers = reachableFrom(calls.flatMap(route => answerOf(route) ?? []))
  return new Map([
    ['types.ts', typesFile(calls, answers)],
    ['routes.ts', routesFile(calls)],
    ['fields.ts', fieldsFile(calls)],
    ['error-texts.ts', errorTextsFile()],
    ['events.ts', eventsFile(root, answers)],
  ])
}

/** Returns the message that describes a record or an answer; undefined for a download. */
function answerOf({ returns: { pageOf, arrayOf, record, download }, rpc }: Route): protobuf.Type | undefined {
  if (download !== undefined) return undefined
  const name = pageOf ?? arrayOf ?? record
  return name === undefined ? rpc.resolvedResponseType! : findMessage(rpc, name)!
}

/** Returns the request fields that are not path variables. */
function inputFieldsOf({ variables, rpc }: Route): protobuf.Field[] {
  return rpc.resolvedRequestType!.fieldsArray.filter(field => !variables.includes(field.name))
}

function bodyName(type: protobuf.Type): string {
  return `${typeName(type).replace(/Request$/, '')}Body`
}

/** Where a call's input goes; undefined for a call without input. */
function inputOf(route: Route): 'body' | 'query' | 'file' | undefined {
  if (route.carrier.body === 'multipart') return 'file'
  if (inputFieldsOf(route).length === 0) return undefined
  return route.hasBody ? 'body' : 'query'
}

function refuseClashes(types: readonly protobuf.Type[]): void {
  const seen = new Map<string, protobuf.Type>()
  for (const type of types) {
    const other = seen.get(typeName(type))
    if (other && other !== type)
      throw new ContractError(`${type.fullName} and ${other.fullName} have one name in the SDK`)
    seen.set(typeName(type), type)
  }
}

function typesFile(routes: readonly Route[], answers: ReadonlySet<protobuf.Type>): string {
  const bodies = new Map(routes.filter(hasJsonBody).map(route => [route.rpc.resolvedRequestType!, route]))
  const inputs = reachableFrom(bodies.keys())
  refuseClashes([...answers, ...inputs])
  const parts = [...inputs].filter(type => !bodies.has(type) && !answers.has(type))
  const listed = new Set(routes.filter(isListed).map(route => answerOf(route)!))
  return [
    `${HEADER}\nimport type { Filter, KeyedOptions, List, ListQuery, RequestOptions, Sort, UploadFile, UploadOptions } from '../call.ts'\n`,
    ...[...answers].map(type => jsonType(type, typeName(type), typeName, fieldTypeOf)),
    ...parts.map(type => inputType(type, typeName(type), type.fieldsArray)),
    ...[...bodies.values()].map(bodyType),
    ...[...listed].map(fieldsType),
    apiType(routes),
    errorCodeType(),
  ].join('\n')
}

function hasJsonBody(route: Route): boolean {
  return inputOf(route) === 'body'
}

function isListed({ returns }: Route): boolean {
  return returns.pageOf !== undefined
}

function bodyType(route: Route): string {
  const type = route.rpc.resolvedRequestType!
  return inputType(type, bodyName(type), inputFieldsOf(route))
}

/** Declares the type of what a client sends: fields are optional unless required. */
function inputType(type: protobuf.Type, name: string, fields: readonly protobuf.Field[]): string {
  const members = fields.map(
    field =>
      `${comment(field.comment, '  ')}  ${wireNameOf(field)}${ruleOf(field).required ? '' : '?'}: ${fieldTypeOf(field)}\n`,
  )
  return `${comment(type.comment)}export type ${name} = {\n${members.join('')}}\n`
}

function fieldTypeOf(field: protobuf.Field): string {
  const { filterOf, sortOf } = ruleOf(field)
  if (filterOf) return `Filter<${filterOf}Fields>`
  return sortOf ? `Sort<${sortOf}Fields>` : jsonTypeOf(field, typeName)
}

/** Declares the fields of a listed record that filter, sort and projection can name. */
function fieldsType(type: protobuf.Type): string {
  const common = ['_id', 'id', 'createdAt', 'updatedAt'].map(name => `  ${name}: string\n`)
  const computed = computedFieldsOf(type)
  const own = Object.entries(fieldTable(type)).filter(([name]) => !['_id', 'id', ...computed].includes(name))
  const members = own.map(([name, kind]) => `  '${name}': ${filterTypeOf(type, name, kind)}\n`)
  const open = openFieldsOf(type).map(name => `  [key: \`${name}.\${string}\`]: string | number | boolean\n`)
  return `/** The fields of ${typeName(type)} that filter, sort and projection can name. */\nexport type ${typeName(type)}Fields = {\n${[...common, ...members, ...open].join('')}}\n`
}

const filterTypes: Record<string, string> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
  objectId: 'string',
  scalar: 'string | number | boolean',
  object: 'Record<string, unknown>',
}

function filterTypeOf(type: protobuf.Type, name: string, kind: string): string {
  const allowed = fieldAt(type, name.split('.'))
  const union =
    allowed &&
    ruleOf(allowed)
      .oneOf?.split(' ')
      .map(value => `'${value}'`)
      .join(' | ')
  const single = union ?? filterTypes[kind.replace('[]', '')]!
  return kind.endsWith('[]') ? `(${single})[]` : single
}

function fieldAt(type: protobuf.Type, [name, ...rest]: string[]): protobuf.Field | undefined {
  const field = type.fieldsArray.find(each => wireNameOf(each) === name)
  if (rest.length === 0) return field
  return field?.resolvedType instanceof protobuf.Type ? fieldAt(field.resolvedType, rest) : undefined
}

/** Returns the fields that only projection can name. */
function computedFieldsOf(type: protobuf.Type): string[] {
  return type.fieldsArray.filter(field => ruleOf(field).computed).map(wireNameOf)
}

/** Returns the fields of free JSON, below which any key can be named. */
function openFieldsOf(type: protobuf.Type): string[] {
  const isOpen = ({ json, computed, filterOf, sortOf }: RuleOption) =>
    opened.has(json ?? '') && !computed && !filterOf && !sortOf
  return type.fieldsArray.filter(field => isOpen(ruleOf(field))).map(wireNameOf)
}

const opened = new Set(['object', 'strings', 'flags', 'scalars'])

function apiType(routes: readonly Route[]): string {
  const groups = Map.groupBy(routes, route => route.call.split('.')[0]!)
  const members = [...groups].map(([group, calls]) => {
    const { parent } = calls[0]!.rpc
    return `${comment(parent!.comment, '  ')}  ${group}: {\n${calls.map(methodType).join('')}  }\n`
  })
  return `/** Every call of the API. */\nexport type Api = {\n${members.join('')}}\n`
}

function methodType(route: Route): string {
  const parameters = [
    ...route.variables.map(name => `${name}: ${variableType(route, name)}`),
    ...inputParameter(route),
    `options?: ${optionsType(route)}`,
  ]
  return `${comment(route.rpc.comment, '    ')}    ${route.call.split('.')[1]}(${parameters.join(', ')}): ${answerType(route)}\n`
}

function variableType(route: Route, name: string): string {
  return jsonTypeOf(route.rpc.resolvedRequestType!.fields[name]!, typeName)
}

function inputParameter(route: Route): string[] {
  const input = inputOf(route)
  if (input === undefined) return []
  if (input === 'file') return ['file: UploadFile']
  const fields = inputFieldsOf(route)
  const request = route.rpc.resolvedRequestType!
  const isRequired = fields.some(field => ruleOf(field).required) || shapeOf(request).anyField
  const type = input === 'body' ? bodyName(request) : queryType(route, fields)
  return [`${input}${isRequired ? '' : '?'}: ${type}`]
}

function queryType(route: Route, fields: readonly protobuf.Field[]): string {
  const own = fields.filter(field => !isListQuery(field))
  const members = own.map(field => `${wireNameOf(field)}${ruleOf(field).required ? '' : '?'}: ${fieldTypeOf(field)}`)
  const list = own.length < fields.length ? [listQueryOf(answerOf(route)!)] : []
  return [...list, ...(own.length > 0 ? [`{ ${members.join('; ')} }`] : [])].join(' & ')
}

function listQueryOf(type: protobuf.Type): string {
  const computed = computedFieldsOf(type).map(name => `'${name}'`)
  return `ListQuery<${[`${typeName(type)}Fields`, ...(computed.length > 0 ? [computed.join(' | ')] : [])].join(', ')}>`
}

function isListQuery(field: protobuf.Field): boolean {
  return field.resolve().resolvedType?.fullName === '.rollcall.ListQuery'
}

function optionsType(route: Route): string {
  if (inputOf(route) === 'file') return 'UploadOptions'
  return acceptsIdempotencyKey(route) ? 'KeyedOptions' : 'RequestOptions'
}

function answerType(route: Route): string {
  const answer = answerOf(route)
  if (!answer) return 'Promise<Response>'
  const name = typeName(answer)
  if (isListed(route)) return `List<${name}>`
  return route.returns.arrayOf === undefined ? `Promise<${name}>` : `Promise<${name}[]>`
}

function errorCodeType(): string {
  return `/** Every code of an error. */\nexport type ErrorCode =\n${errorCodes.map(code => `  | '${code}'\n`).join('')}`
}

function errorTextsFile(): string {
  const lines = errorCodes.map(code => `  '${code}': ${JSON.stringify(errorTextOf(code))},\n`)
  return `${HEADER}\nimport type { ErrorCode } from './types.ts'\n\n/** The English text of each code, with the names of its details in braces. */\nexport const errorTexts = {\n${lines.join('')}} as const satisfies Record<ErrorCode, string>\n`
}

function routesFile(routes: readonly Route[]): string {
  const lines = routes.map(route => `  '${route.call}': { ${routeMembers(route).join(', ')} },\n`)
  return `${HEADER}\nimport type { Route } from '../call.ts'\n\n/** How each call is sent, and the permissions that it needs. */\nexport const routes = {\n${lines.join('')}} as const satisfies Record<string, Route>\n\n/** The name of a call: contacts.list. */\nexport type CallName = keyof typeof routes\n`
}

function routeMembers(route: Route): string[] {
  const input = inputOf(route)
  const answer = isListed(route) ? 'list' : route.returns.download === undefined ? 'json' : 'file'
  return [
    `verb: '${route.verb}'`,
    `path: '${route.path}'`,
    ...(input ? [`input: '${input}'`] : []),
    `answer: '${answer}'`,
    ...(acceptsIdempotencyKey(route) ? ['keyed: true'] : []),
    ...(startsJob(route) ? ['startsJob: true'] : []),
    `permissions: [${permissionsOf(route)
      .map(name => `'${name}'`)
      .join(', ')}]`,
  ]
}

function permissionsOf({ access }: Route): string[] {
  if (access.kind !== 'permission') return []
  return [`${access.resource}.${access.action}`, ...(access.also ? [access.also] : [])]
}

function fieldsFile(routes: readonly Route[]): string {
  const tables = routes.filter(hasJsonBody).map(route => {
    const lines = inputFieldsOf(route).flatMap(field => fieldLines(field, wireNameOf(field)))
    return `  '${route.call}': {\n${lines.join('')}  },\n`
  })
  return `${HEADER}\nimport type { BodyField } from '../call.ts'\n\n/** The fields of every body by dotted name: what a form needs to know. */\nexport const fields = {\n${tables.join('')}} as const satisfies Record<string, Record<string, BodyField>>\n`
}

function fieldLines(field: protobuf.Field, name: string): string[] {
  const { resolvedType } = field.resolve()
  const inner = resolvedType instanceof protobuf.Type && !field.repeated ? resolvedType.fieldsArray : []
  return [
    `    '${name}': ${bodyField(field)},\n`,
    ...inner.flatMap(each => fieldLines(each, `${name}.${wireNameOf(each)}`)),
  ]
}

function bodyField(field: protobuf.Field): string {
  const { required, nullable, minLen, maxLen, min, max, maxItems, oneOf, format, controls } = ruleOf(field)
  const members = {
    type: bodyFieldType(field),
    required,
    nullable,
    minLength: minLen,
    maxLength: maxLen,
    minimum: min,
    maximum: max,
    maxItems,
    values: oneOf?.split(' '),
    format,
    multiline: controls,
  }
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return `{ ${given.map(([key, value]) => `${key}: ${literal(value)}`).join(', ')} }`
}

function bodyFieldType(field: protobuf.Field): string {
  const { json } = ruleOf(field)
  if (field.repeated || json === 'texts') return 'array'
  if (json) return json === 'any' ? 'any' : 'object'
  if (field.resolvedType instanceof protobuf.Type) return 'object'
  if (field.type === 'bool') return 'boolean'
  return field.type === 'string' ? 'string' : 'number'
}

function literal(value: unknown): string {
  return Array.isArray(value)
    ? `[${value.map(literal).join(', ')}]`
    : typeof value === 'string'
      ? `'${value}'`
      : String(value)
}

function eventsFile(root: protobuf.Root, answers: ReadonlySet<protobuf.Type>): string {
  const events = eventsOf(root)
  const reached = reachableFrom(events.map(({ message }) => message))
  const imported = [...reached]
    .filter(type => answers.has(type))
    .map(typeName)
    .sort()
  const own = [...reached].filter(type => !answers.has(type))
  refuseClashes([...answers, ...own])
  return [
    `${HEADER}\nimport type { ${imported.join(', ')} } from './types.ts'\n`,
    ...own.map(type => jsonType(type, typeName(type), typeName)),
    `/** The data of every event by its type. */\nexport type Events = {\n${events.map(({ type, message }) => `  '${type}': ${typeName(message)}\n`).join('')}}\n`,
    `/** The type of an event. */\nexport type EventType = keyof Events\n`,
  ].join('\n')
}
