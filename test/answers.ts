import assert from 'node:assert/strict'
import { compileMatcher, contractRoutes, generateOpenApi } from '@rollcall/contract'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Reference = { $ref: string }
type Response = { content?: Record<string, { schema?: object }>; headers?: Record<string, Header | Reference> }
type Header = { required?: boolean; schema: { type?: string; pattern?: string } }

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

  const pointer = [
    'paths',
    route.path.replace(/:(\w+)/g, '{$1}'),
    route.verb.toLowerCase(),
    'responses',
    String(status),
  ]
  const declared = lookUp(pointer) as Response | Reference | undefined
  assert.ok(declared, `${what}: not a declared status; ${text.slice(0, 500)}`)
  if (status >= 400) {
    const code = headers.get('x-error-code') ?? 'none'
    const codes = lookUp([...pointer.slice(0, 3), 'x-error-codes', String(status)]) as string[] | undefined
    assert.ok(codes?.includes(code), `${what}: the error ${code} is not declared; ${text.slice(0, 500)}`)
  }
  const place = '$ref' in declared ? declared.$ref.split('/').slice(1) : pointer
  const { content, headers: declaredHeaders = {} } = lookUp(place) as Response
  checkHeaders(declaredHeaders, headers, what)
  if (!content || method === 'HEAD') return

  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  assert.ok(type in content, `${what}: ${type || 'no content type'} where ${Object.keys(content)} is declared`)
  if (type !== 'application/json' || RESHAPING.some(name => url.searchParams.has(name))) return
  const validate = validatorAt([...place, 'content', type, 'schema'])
  if (!validate(JSON.parse(text))) {
    assert.fail(`${what}: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}; ${text.slice(0, 500)}`)
  }
}

/** Headers that an answer has only where they are declared. */
const SPECIAL = ['x-limit-clamped', 'idempotency-replayed', 'www-authenticate', 'content-disposition', 'retry-after']

function checkHeaders(declared: NonNullable<Response['headers']>, headers: Headers, what: string): void {
  for (const [name, given] of Object.entries(declared)) {
    const { required, schema } = ('$ref' in given ? lookUp(given.$ref.split('/').slice(1)) : given) as Header
    const value = headers.get(name)
    assert.ok(value !== null || !required, `${what}: no ${name}`)
    const pattern = schema.type === 'integer' ? '^\\d+$' : schema.pattern
    if (value !== null && pattern) assert.match(value, new RegExp(pattern), `${what}: ${name}`)
  }
  const names = Object.keys(declared).map(name => name.toLowerCase())
  for (const name of SPECIAL) assert.ok(!headers.has(name) || names.includes(name), `${what}: ${name} is not declared`)
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
