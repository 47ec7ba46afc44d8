import { generateOpenApi, type Route } from '@rollcall/contract'
import fc from 'fast-check'
import { routes } from '../every-route.ts'
import { fitting, type Schema, type Source, sometimes } from './fitting.ts'

/** A hostile request. `body` is the raw text; `by` is the credential to send. */
export type HostileRequest = {
  route: Route
  path: string
  query: string
  headers: Record<string, string>
  body?: string
  by: number
}

/** What is known of an organization. It grows with each answer, and new requests use it. */
export type Loot = {
  /** A word in the texts that are created for the organization. */
  word: string
  /** Paths of records by the route of their list: `/api/workspaces/:id/members` → `/api/workspaces/68…/members/69…`. */
  paths: Map<string, string[]>
  /** Texts by the names of their fields. */
  texts: Map<string, string[]>
}

const MOST_KEPT = 16

/** Returns empty knowledge. */
export function noLoot(word: string): Loot {
  return { word, paths: new Map(), texts: new Map() }
}

/** Collects records and their fields from the answer to a successful request. */
export function learn(loot: Loot, { route, path }: Pick<HostileRequest, 'route' | 'path'>, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  const { id, docs } = answer as { id?: string; docs?: { _id?: string }[] }
  if (route.status === 201 && id) keep(loot.paths, route.path, `${path}/${id}`)
  for (const { _id } of docs ?? []) if (_id) keep(loot.paths, route.path, `${path}/${_id}`)
  for (const [name, text] of Object.entries(answer)) if (typeof text === 'string') keep(loot.texts, name, text)
  const { acceptUrl } = answer as { acceptUrl?: string }
  if (acceptUrl) keep(loot.texts, 'token', acceptUrl.slice(acceptUrl.lastIndexOf('/') + 1))
  if (route.verb === 'DELETE') forget(loot.paths, parentOf(route.path), path)
}

function keep(all: Map<string, string[]>, key: string, value: string): void {
  const kept = all.get(key) ?? []
  all.set(key, [...kept.filter(other => other !== value), value].slice(-MOST_KEPT))
}

function forget(all: Map<string, string[]>, key: string, value: string): void {
  all.set(key, all.get(key)?.filter(other => other !== value) ?? [])
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'))

/** Values that handlers accept, where a schema only requires text or an object. */
const meaningful: Record<string, readonly unknown[]> = {
  role: ['user', 'admin', 'owner'],
  permissions: [{ links: ['read'] }, { audience: ['read', 'create', 'update', 'delete'] }, {}],
  expiresAt: ['2099-01-01T00:00:00.000Z', null],
  seats: [1, 100, null],
  country: ['DE', 'FR'],
  timezone: ['Europe/Berlin', 'UTC'],
  language: ['de', 'en-GB'],
  currency: ['EUR', 'USD'],
  mapping: [{ Email: 'email', Name: 'name' }],
  password: ['made for tests only'],
  cidrs: ['10.0.0.0/8', '0.0.0.0/0', '::/0'],
  port: [587, 465],
  file: ['Email,Name\none@example.com,One\ntwo@example.com,Two\n', 'Email;Name\r\n"a@example.com";"=1+1"\r\n'],
  filter: [{}],
  apiKey: ['key-of-the-test'],
  required: [false],
  delivery: ['oauth', 'oauth', 'smtp'],
  grant_type: ['urn:ietf:params:oauth:grant-type:token-exchange', 'client_credentials'],
}

const lists: Record<string, string> = {
  user: '/api/users',
  contact: '/api/audience',
  list: '/api/audience-lists',
  sender: '/api/emails/senders',
}

/** Returns the list whose records a field refers to. */
const namedBy = (field: string) => lists[field.replace(/Ids?$/, '')]

/** Returns a known value for the field of this name. */
function recall({ paths, texts }: Loot, name: string, chance: number): unknown {
  const list = namedBy(name)
  if (list) return oneOf(paths.get(list), chance)?.split('/').at(-1)
  if (Object.hasOwn(meaningful, name)) return oneOf(meaningful[name], chance)
  const isKey = /Id$|^token$|^client_|_token$/.test(name)
  return isKey || chance % 4 === 0 ? oneOf(texts.get(name), chance >> 2) : undefined
}

function oneOf<T>(values: readonly T[] | undefined, chance: number): T | undefined {
  return values?.length ? structuredClone(values[chance % values.length]) : undefined
}

/** A request before serialisation: a tree of values, each of which can be replaced. */
type Draft = {
  /** The variables of the path. */
  path: Record<string, unknown>
  query: Record<string, unknown>
  headers: Record<string, unknown>
  body: unknown
  type: string | undefined
}

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }
type Operation = {
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

const { paths, components } = generateOpenApi(routes, 'test')

/** Returns valid requests to a route, about known records. */
export function meantFor(route: Route, own: Loot): fc.Arbitrary<HostileRequest> {
  const pathOf = (list: string, chance: number) => oneOf(own.paths.get(list), chance)
  const draft = draftOf(
    route,
    sourceOf(own.word, (name, chance) => recall(own, name, chance)),
    pathOf,
  )
  return draft.map(made => written(route, made, 0))
}

/**
 * Generates requests to every route from the API description: about `own` records, sometimes with an id of `other`.
 * Most have one fault, some have none or several.
 */
export function hostileRequests(own: Loot, other: Loot): fc.Arbitrary<HostileRequest> {
  const pathOf = (list: string, chance: number) => oneOf((chance % 16 ? own : other).paths.get(list), chance >> 4)
  const source = sourceOf(own.word, (name, chance) => {
    if (chance % 31 === 0) return namedBy(name) && recall(other, name, chance)
    return chance % 29 === 0 ? undefined : recall(own, name, chance)
  })
  const to = (route: Route) =>
    fc
      .tuple(draftOf(route, source, pathOf), someChanges, fc.nat(7))
      .map(([draft, changes, by]) => changes.reduce(rewritten, written(route, changes.reduce(changed, draft), by)))
  return fc.oneof(...routes.map(to))
}

function sourceOf(word: string, recall: Source['recall']): Source {
  return { resolve: reference => components.schemas[reference.split('/').at(-1)!] as Schema, word, recall }
}

function draftOf(
  route: Route,
  source: Source,
  pathOf: (list: string, chance: number) => string | undefined,
): fc.Arbitrary<Draft> {
  const operation = paths[route.path.replace(/:(\w+)/g, '{$1}')]![route.verb.toLowerCase()] as Operation
  const { parameters, requestBody, responses } = operation
  const valuesIn = (place: Parameter['in'], share: number) => {
    const entries = parameters
      .filter(parameter => parameter.in === place)
      .map(({ name, required, schema }) => {
        const value = parameterValue(name, schema, responses, source)
        return fc.tuple(fc.constant(name), sometimes(value, required ? 1 : share))
      })
    return fc
      .tuple(...entries)
      .map(made => Object.fromEntries(made.filter(([, value]) => value !== undefined)) as Record<string, unknown>)
  }
  const path = fc.tuple(valuesIn('path', 1), fc.nat()).map(([values, chance]) => {
    const known = knownVariables(route.path, list => pathOf(list, chance))
    return { ...values, ...known }
  })
  const content = Object.entries(requestBody?.content ?? {})
  const body = fc.oneof(
    ...content.map(([type, { schema }]) => fitting(schema, '', source).map(body => ({ body, type }))),
    ...(content.length === 0 ? [fc.constant({ body: undefined, type: undefined })] : []),
  )
  return fc
    .tuple(path, valuesIn('query', 0.25), valuesIn('header', 0.1), body)
    .map(([path, query, headers, { body, type }]) => ({ path, query, headers, body, type }))
}

/** Returns the variables of a route's path from a known record, or from one of the longest known part of the path. */
function knownVariables(path: string, pathOf: (list: string) => string | undefined): Record<string, string> {
  const parts = path.split('/')
  const last = parts.findLastIndex(part => part.startsWith(':'))
  if (last === -1) return {}
  const known = pathOf(parts.slice(0, last).join('/'))?.split('/')
  if (!known) return knownVariables(parts.slice(0, last).join('/'), pathOf)
  return Object.fromEntries(
    parts.slice(0, last + 1).flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), known[at]!]] : [])),
  )
}

function parameterValue(name: string, schema: Schema, responses: Operation['responses'], source: Source) {
  const listed = responses[200]?.content?.['application/json']?.schema.oneOf?.[1]?.items
  const properties = (listed?.$ref ? source.resolve(listed.$ref) : {}).properties ?? { createdAt: {}, email: {} }
  const field = fc.constantFrom(...Object.keys(properties))
  if (name === 'filter') return filterOf(properties, source)
  if (name === 'sort') return asObject(fc.tuple(field, fc.constantFrom(1, -1, 'asc', 'desc')), 2)
  if (name === 'projection') return asObject(fc.tuple(field, fc.constantFrom(0, 1)), 1)
  if (name === 'populate') return fc.constantFrom('', '', '', 'user', 'list')
  return fitting(schema, name, source)
}

function asObject(entry: fc.Arbitrary<[string, unknown]>, most: number): fc.Arbitrary<object> {
  return fc.array(entry, { minLength: 1, maxLength: most }).map(entries => Object.fromEntries(entries))
}

const operators = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']
const odderOperators = ['$all', '$size', '$not', '$where', '$expr', '$function', '$elemMatch', '$type', '$text']

function filterOf(properties: Record<string, Schema>, source: Source): fc.Arbitrary<object> {
  const conditions = Object.entries(properties).map(([name, schema]) => {
    const value = fitting(schema, name, source)
    const condition = fc.oneof(
      value,
      asObject(fc.tuple(fc.constantFrom(...operators), value), 2),
      fc.array(value, { maxLength: 3 }).map(values => ({ $in: values })),
      fc.boolean().map(isThere => ({ $exists: isThere })),
      fc.tuple(hostileText, fc.constantFrom('', 'i')).map(([$regex, $options]) => ({ $regex, $options })),
    )
    return fc.tuple(fc.constant(name), condition)
  })
  const simple = asObject(fc.oneof(...conditions), 2)
  const joined = fc.tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(simple, { minLength: 1, maxLength: 2 }))
  return fc.oneof({ weight: 5, arbitrary: simple }, { weight: 1, arbitrary: asObject(joined, 1) })
}

const nasty = [
  '',
  ' ',
  '\u0000',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '$where',
  '$ne',
  '{"$gt":""}',
  "' or 1=1 --",
  '=HYPERLINK("http://example.com")',
  '<script>alert(1)</script>',
  '%00',
  '%ff',
  '\r\nSet-Cookie: a=b',
  'ﷺ'.repeat(40),
  '\ud83d\ude00',
  '\ud800',
  'a'.repeat(5000),
  '(a+)+$',
  '9'.repeat(400),
  '1e999',
  'NaN',
  'null',
  '-1',
  '2147483648',
  '0x10',
]
const hostileText = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary', maxLength: 60 }))
const hostileNumber = fc.constantFrom(0, -1, 0.1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e21, 1e308, -1e308, 5e-324)
const hostileName = fc.oneof(
  fc.constantFrom('_id', 'organization', 'attributes.a', 'constructor.prototype', '$and', '$or', ...odderOperators),
  hostileText,
)
const { json: hostileJson } = fc.letrec(tie => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, false), hostileNumber, hostileText),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(hostileName, tie('json')), { maxLength: 3 }).map(entries => Object.fromEntries(entries)),
  ),
}))

/** A change of a request; `place` is the part that changes. */
type Change = { way: keyof typeof ways; place: number; text: string; name: string; value: unknown }
type Place = { holder: Record<string, unknown>; key: string }

/** A change of a value. */
const ways = {
  worse: ({ holder, key }: Place, change: Change) => set(holder, key, worse(holder[key], change)),
  other: ({ holder, key }: Place, { value }: Change) => set(holder, key, value),
  gone: ({ holder, key }: Place) => void delete holder[key],
  more: ({ holder }: Place, { name, value }: Change) => set(holder, name, value),
  renamed: ({ holder, key }: Place, { name }: Change) => {
    set(holder, name, holder[key])
    delete holder[key]
  },
  nested: ({ holder, key }: Place, { place }: Change) => set(holder, key, nested(holder[key], place % 400)),
  /** Applied to the serialised request. */
  rewritten: () => {},
}
const rarer = ['other', 'gone', 'more', 'renamed', 'nested', 'rewritten'] as const

const change: fc.Arbitrary<Change> = fc.record({
  way: fc.oneof(
    { weight: 2, arbitrary: fc.constant('worse' as const) },
    { weight: 1, arbitrary: fc.constantFrom(...rarer) },
  ),
  place: fc.nat(9999),
  text: hostileText,
  name: hostileName,
  value: hostileJson,
})
const someChanges = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 6, arbitrary: change.map(one => [one]) },
  { weight: 3, arbitrary: fc.array(change, { minLength: 2, maxLength: 4 }) },
)

function changed(draft: Draft, change: Change): Draft {
  const { path, query, headers, body } = draft
  const isFar = change.place % 6 > 0
  const places = [...(isFar ? [] : [path]), query, headers, body].flatMap(tree => placesIn(tree))
  const place = places[Math.floor(change.place / 6) % places.length]
  if (place) ways[change.way](place, change)
  return draft
}

/** Returns the first few places on each of the upper levels. */
function placesIn(node: unknown, level = 0): Place[] {
  if (typeof node !== 'object' || node === null || level > 3) return []
  const holder = node as Record<string, unknown>
  const keys = Object.keys(holder).slice(0, 20)
  return keys.flatMap(key => [{ holder, key }, ...placesIn(holder[key], level + 1)])
}

/** Sets a property, also if the key is `__proto__`, as in parsed JSON. */
function set(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Returns a more difficult value of the same type. */
function worse(value: unknown, { text, name, value: any, place }: Change): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return place % 2 ? -value : value * 2 ** 31
  if (Array.isArray(value)) return Array(isLong(value) ? 1 : place % 120).fill(value[0] ?? text)
  if (typeof value === 'object' && value !== null) return Object.fromEntries([...Object.entries(value), [name, any]])
  return text
}

/** Whether a value is long already. Without this, nested lists would grow 120-fold with each change. */
function isLong(value: unknown): boolean {
  return JSON.stringify(value).length > 20_000
}

function nested(value: unknown, depth: number): unknown {
  let outer = value
  for (let level = 0; level < depth; level++) outer = depth % 2 ? [outer] : { a: outer }
  return outer
}

/** Serialises a request. Truncates path, query and headers to what an HTTP server reads. */
function written(route: Route, { path, query, headers, body, type }: Draft, by: number): HostileRequest {
  const given = Object.entries(headers).filter(([name]) => /^[\w-]+$/.test(name))
  return {
    route,
    path: route.path
      .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(path[name])) || '%20')
      .slice(0, 3000),
    query: parametersOf(query).slice(0, 9000),
    headers: {
      ...Object.fromEntries(
        given.map(([name, value]) => [
          name,
          textOf(value)
            .replace(/[^\x20-\x7e]/g, '?')
            .slice(0, 1000),
        ]),
      ),
      ...(type !== undefined && { 'content-type': type === multipart ? `${multipart}; boundary=${boundary}` : type }),
    },
    ...(type !== undefined && { body: encoded(body, type) }),
    by,
  }
}

const multipart = 'multipart/form-data'
const boundary = 'between-the-parts'

function encoded(body: unknown, type: string): string {
  if (type === multipart) return `${partsOf(body as object).join('')}--${boundary}--\r\n`
  if (type === 'application/x-www-form-urlencoded') return parametersOf(body as object)
  return JSON.stringify(body)
}

function partsOf(body: object): string[] {
  return Object.entries(body).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${encodeURI(name.toWellFormed())}"; filename="a.csv"\r\n\r\n${textOf(value)}\r\n`,
  )
}

function parametersOf(values: object): string {
  const texts = Object.entries(values).map(([name, value]): [string, string] => [name.toWellFormed(), textOf(value)])
  return new URLSearchParams(texts).toString()
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()
}

/** Changes of a body as text: a repeated key, a number out of range, half a character, broken JSON. */
const rewrites: [RegExp, string][] = [
  [/^\{("[^"]*":)/, '{$1null,$1'],
  [/:("[^"]*"|[\w.-]+)/, ':1e400'],
  [/:"/, ':"\\ud800'],
  [/.$/, ''],
  [/"/, ''],
  [/^/, '[[[['],
]
const otherTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  multipart,
  '',
]

function rewritten(request: HostileRequest, { way, place }: Change): HostileRequest {
  const { body, query, headers } = request
  if (way !== 'rewritten') return request
  if (body === undefined) return { ...request, query: query.length < 4000 ? `${query}&${query}` : query }
  const turn = Math.floor(place / 4)
  const [pattern, replacement] = rewrites[turn % rewrites.length]!
  if (place % 4) return { ...request, body: body.replace(pattern, replacement) }
  return { ...request, headers: { ...headers, 'content-type': otherTypes[turn % otherTypes.length]! } }
}
