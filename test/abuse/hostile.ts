import type { Route } from '@rollcall/contract'
import fc from 'fast-check'

/** A request as nobody means it. `body` is the text as it is sent. */
export type HostileRequest = { method: string; path: string; query: string; body?: string; contentType?: string }

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
const operators = [
  '$eq',
  '$ne',
  '$gt',
  '$in',
  '$nin',
  '$exists',
  '$regex',
  '$options',
  '$all',
  '$size',
  '$not',
  '$where',
  '$expr',
  '$function',
]
const fieldNames = [
  '_id',
  'id',
  'name',
  'email',
  'tags',
  'createdAt',
  'attributes',
  'attributes.a',
  'passwordHash',
  'organization',
  'hash',
  '__proto__',
  'constructor.prototype',
  '$and',
  '$or',
  '$nor',
  '',
]

/** JSON texts, written by hand so that `__proto__` is a key like any other. */
const { json: hostileJson } = fc.letrec<{ json: string; list: string; object: string }>(tie => ({
  list: fc.array(tie('json'), { maxLength: 3 }).map(items => `[${items.join(',')}]`),
  object: objectOf(fc.oneof(fc.constantFrom(...fieldNames, ...operators), hostileText), tie('json')),
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    hostileText.map(text => JSON.stringify(text)),
    fc.constantFrom('null', 'true', 'false', '0', '-1', '1e308', '1e400', '0.1', '[]', '{}'),
    tie('list'),
    tie('object'),
  ),
}))

function objectOf(key: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(key, value), { maxLength: 3 })
    .map(entries => `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`)
}

const filters = objectOf(
  fc.constantFrom(...fieldNames),
  fc.oneof(hostileJson, objectOf(fc.constantFrom(...operators), hostileJson)),
)
/** Mostly what a client means, at times what it does not: only what is nearly right gets far. */
function mostly(sane: readonly string[], hostile: fc.Arbitrary<string>, weight = 6): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...sane) }, { weight: 1, arbitrary: hostile })
}

const saneFilters = [
  '{}',
  '{"createdAt":{"$gte":"2020-01-01"}}',
  '{"$or":[{"createdAt":{"$lt":"2020-01-01"}},{"_id":{"$exists":true}}]}',
]
const listParameters = fc.record(
  {
    filter: mostly(saneFilters, fc.oneof({ weight: 3, arbitrary: filters }, hostileText), 2),
    sort: mostly(
      ['{"_id":1}', '{"createdAt":"desc"}'],
      fc.oneof(objectOf(fc.constantFrom(...fieldNames), hostileJson), hostileText),
    ),
    projection: mostly(
      ['{"createdAt":1}', '{"_id":0}'],
      fc.oneof(objectOf(fc.constantFrom(...fieldNames), hostileJson), hostileText),
    ),
    populate: mostly([''], fc.oneof(fc.constantFrom('user', 'list'), hostileText)),
    $page: mostly(['1', '2', '0', '-1', '999999999999'], hostileText),
    $limit: mostly(['1', '50', '1000', '1e9'], hostileText),
    pagination: mostly(['true', 'false'], hostileText),
  },
  { requiredKeys: [] },
)

/**
 * Requests to every route of the contract: its own fields with values that fit, almost fit or are meant to do harm.
 * @param ids ids of things that exist, of this organization and of another
 */
export function hostileRequests(routes: readonly Route[], ids: readonly string[]): fc.Arbitrary<HostileRequest> {
  return fc.oneof(...routes.map(route => requestTo(route, ids)))
}

function requestTo(route: Route, ids: readonly string[]): fc.Arbitrary<HostileRequest> {
  const id = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 24, maxLength: 24 }) },
    { weight: 1, arbitrary: hostileText },
  )
  const segments = route.path.split('/').map(part => (part.startsWith(':') ? id.map(encoded) : fc.constant(part)))
  const path = fc.tuple(...segments).map(parts => parts.join('/'))
  const query = route.hasBody
    ? fc.constant('')
    : listParameters.map(given => new URLSearchParams(wellFormed(given)).toString())
  if (!route.hasBody) return fc.record({ method: fc.constant(route.verb), path, query })
  const body = fc.oneof(
    { weight: 20, arbitrary: bodyOf(route, id) },
    { weight: 1, arbitrary: hostileJson },
    { weight: 1, arbitrary: fc.oneof(hostileText, fc.constantFrom('{', '[[[['.repeat(500), '{"a":1,"a":2}')) },
  )
  const contentType = mostly(
    ['application/json'],
    fc.constantFrom('text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded'),
    12,
  )
  return fc.record({ method: fc.constant(route.verb), path, query, body, contentType })
}

type Field = NonNullable<Route['rpc']['resolvedRequestType']>['fieldsArray'][number]

/** A body of the route's own fields, some of them left out, and at times one that nobody asked for. */
function bodyOf({ rpc, path }: Route, id: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const fields = rpc.resolvedRequestType!.fieldsArray.filter(field => !path.includes(`:${field.name}`))
  const own = fields.map(field => fc.option(fc.tuple(fc.constant(field.name), valueFor(field, id)), { freq: 12 }))
  const extra = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, fc.tuple(hostileText, hostileJson))
  return fc.tuple(...own, extra).map(entries => {
    const given = entries.filter(entry => entry !== null)
    return `{${given.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  })
}

function valueFor(field: Field, id: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const fitting = /Ids?$/.test(field.name)
    ? id.map(text => JSON.stringify(text))
    : fc.constantFrom(...saneValues(field))
  const single = fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: hostileJson })
  const list = fc.array(single, { minLength: 1, maxLength: 3 }).map(items => `[${items.join(',')}]`)
  return field.repeated ? fc.oneof({ weight: 10, arbitrary: list }, single) : single
}

function saneValues({ type, name }: Field): string[] {
  if (type === 'bool') return ['true', 'false']
  if (type === 'int32' || type === 'int64') return ['0', '1', '587']
  if (/email|^to$|replyTo/i.test(name)) return ['"one@example.com"', '"Two@Example.com"']
  if (/At$/.test(name)) return ['"2030-01-01"', 'null']
  if (/permissions/.test(name)) return ['{"audience":["read"]}', '{"links":["create","delete"]}']
  if (/role|kind|type/i.test(name)) return ['"user"', '"api"', '"string"', '"self-hosted"']
  if (/domain|host/.test(name)) return ['"mail.example.com"']
  return ['"Name One"', '"Name One"', '"name_one"', '{"name":"a"}', 'null', '{}']
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || '%20'
}

function wellFormed(given: Partial<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, (text ?? '').toWellFormed()]))
}
