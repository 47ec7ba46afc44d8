import assert from 'node:assert/strict'
import { compileMatcher, contractRoutes, generateOpenApi, type Route } from '@rollcall/contract'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Reference = { $ref: string }
type Response = { content?: Record<string, { schema?: object }>; headers?: Record<string, Header | Reference> }
type Header = { required?: boolean; schema: { type?: string; pattern?: string } }
/** What the contract declares for a status of a route. `place`: where its response is in the contract. */
type Declaration = {
  place: readonly string[]
  content: Response['content']
  codes: readonly string[] | undefined
  headers: readonly { name: string; required: boolean; pattern: RegExp | undefined }[]
  headerNames: ReadonlySet<string>
}

const { routes } = contractRoutes()
const contract = generateOpenApi(routes, 'test')
const match = compileMatcher(routes)
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(contract, 'contract')

/** Query parameters that change which fields an answer has, so that its schema does not apply. */
const RESHAPING = ['projection', 'populate']

/**
 * Checks an answer of the API against the contract: status, content type, schema of the body, and the headers of every
 * answer.
 */
export function checkAnswer(method: string, url: URL, status: number, headers: Headers, text: string): void {
  const what = `${method} ${url.pathname} → ${status}`
  assert.ok(headers.get('x-request-id'), `${what}: no X-Request-Id`)
  assert.ok(headers.get('ratelimit-limit'), `${what}: no RateLimit-Limit`)
  const route = match(method, url.pathname)?.route
  assert.ok(route || [401, 404, 429].includes(status), `${what}: there is no such route`)
  if (!route) return

  const declared = declaredOf(route, status)
  assert.ok(declared, `${what}: not a declared status; ${text.slice(0, 500)}`)
  if (status >= 400) {
    const code = headers.get('x-error-code') ?? 'none'
    assert.ok(declared.codes?.includes(code), `${what}: the error ${code} is not declared; ${text.slice(0, 500)}`)
  }
  checkHeaders(declared, headers, what)
  const { content } = declared
  if (!content || method === 'HEAD') return

  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  assert.ok(type in content, `${what}: ${type || 'no content type'} where ${Object.keys(content)} is declared`)
  if (type !== 'application/json' || RESHAPING.some(name => url.searchParams.has(name))) return
  const validate = validatorAt([...declared.place, 'content', type, 'schema'])
  if (!validate(JSON.parse(text))) {
    assert.fail(`${what}: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}; ${text.slice(0, 500)}`)
  }
}

/** Headers that an answer has only where they are declared. */
const SPECIAL = ['x-limit-clamped', 'idempotency-replayed', 'www-authenticate', 'content-disposition', 'retry-after']

function checkHeaders({ headers: declared, headerNames }: Declaration, headers: Headers, what: string): void {
  for (const { name, required, pattern } of declared) {
    const value = headers.get(name)
    assert.ok(value !== null || !required, `${what}: no ${name}`)
    if (value !== null && pattern) assert.match(value, pattern, `${what}: ${name}`)
  }
  for (const name of SPECIAL) assert.ok(!headers.has(name) || headerNames.has(name), `${what}: ${name} is not declared`)
}

const declarations = new Map<string, Declaration | undefined>()

/** Returns the declaration of a status; undefined if it is not declared. */
function declaredOf(route: Route, status: number): Declaration | undefined {
  const key = `${route.verb} ${route.path} ${status}`
  if (!declarations.has(key)) declarations.set(key, readDeclaration(route, String(status)))
  return declarations.get(key)
}

function readDeclaration({ verb, path }: Route, status: string): Declaration | undefined {
  const operation = ['paths', path.replace(/:(\w+)/g, '{$1}'), verb.toLowerCase()]
  const response = [...operation, 'responses', status]
  const declared = lookUp(response) as Response | Reference | undefined
  if (!declared) return undefined
  const place = '$ref' in declared ? declared.$ref.split('/').slice(1) : response
  const { content, headers = {} } = lookUp(place) as Response
  return {
    place,
    content,
    codes: lookUp([...operation, 'x-error-codes', status]) as string[] | undefined,
    headers: Object.entries(headers).map(([name, given]) => {
      const { required = false, schema } = ('$ref' in given ? lookUp(given.$ref.split('/').slice(1)) : given) as Header
      const pattern = schema.type === 'integer' ? '^\\d+$' : schema.pattern
      return { name, required, pattern: pattern ? new RegExp(pattern) : undefined }
    }),
    headerNames: new Set(Object.keys(headers).map(name => name.toLowerCase())),
  }
}

function lookUp(pointer: readonly string[]): unknown {
  return pointer.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], contract)
}

function validatorAt(pointer: readonly string[]): ValidateFunction {
  const escaped = pointer.map(key => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validate = ajv.getSchema(`contract#/${escaped.join('/')}`)
  assert.ok(validate, `no schema at ${pointer.join('/')}`)
  return validate
}
