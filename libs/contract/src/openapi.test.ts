import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventContexts } from '@rollcall/protos/gen/events.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { readExamples } from './examples.ts'
import { generateOpenApi } from './openapi.ts'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'
import type { Schema } from './schemas.ts'

const { routes } = compileRoutes(loadRoot())
const examples = readExamples()
const document = generateOpenApi(routes, '1.2.3', examples)
const operation = (verb: string, path: string) => document.paths[path]?.[verb] as Record<string, unknown>
/** Options of Ajv for schemas that check one value: it compiles faster, and checks slower. */
const quick = { inlineRefs: false, code: { optimize: false } }

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(document))
    assert.ok(valid, JSON.stringify(errors))
    assert.equal(validator.version, '3.1')
  })

  it('has every route, described', () => {
    for (const { verb, path } of routes) {
      const found = operation(verb.toLowerCase(), path.replace(/:(\w+)/g, '{$1}')) as { summary: string }
      assert.ok(found.summary.length > 5, `${verb} ${path} has no summary: comment its rpc`)
    }
  })

  it('says of every operation when to use it', () => {
    for (const { call, rpc } of routes) assert.match(rpc.comment ?? '', /\bUse it (?=\w)/, `${call} does not say so`)
  })

  it('has a tag for every service, described', () => {
    for (const { name, description } of document.tags) assert.ok(description.length > 10, name)
    const used = routes.map(({ rpc }) => rpc.parent!.name)
    assert.deepEqual(new Set(document.tags.map(({ name }) => name)), new Set(used))
  })

  it('has the text of every error', () => {
    const errors = document['x-errors'] as Record<string, { status: number; message: string }>
    assert.deepEqual(errors['record.duplicate'], { status: 409, message: 'duplicate -> {path}' })
    for (const [code, { message }] of Object.entries(errors))
      assert.doesNotMatch(message, /undefined|NaN|\[object|^$/, code)
  })

  it('shows examples that its schemas allow', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, ...quick })
    formats.default(ajv)
    ajv.addSchema(document, 'document')
    const check = (pointer: string[], value: unknown, what: string) => {
      const escaped = pointer.map(key => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
      const validate = ajv.getSchema(`document#/${escaped.join('/')}`)
      assert.ok(validate?.(value), `${what}: ${ajv.errorsText(validate?.errors)}`)
    }
    for (const { call, verb, path, status } of routes) {
      const example = examples[call]
      if (!example) continue
      const at = ['paths', path.replace(/:(\w+)/g, '{$1}'), verb.toLowerCase()]
      const content = ['content', 'application/json', 'schema']
      if (example.body !== undefined) check([...at, 'requestBody', ...content], example.body, `${call} body`)
      if (typeof example.answer === 'object')
        check([...at, 'responses', String(status), ...content], example.answer, `${call} answer`)
    }
  })

  it('declares the format of every time and id in an example', () => {
    const undeclared: string[] = []
    const actor = /\.(createdBy|addedBy|actor)\.id$/ // of several kinds
    const pattern = /^(\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{24})$/
    for (const { call, returns } of routes) {
      const { answer } = examples[call] ?? {}
      const media = successOf(call)
      if (returns.download !== undefined || !media || answer === undefined) continue
      for (const [text, schema, at] of textsOf(answer, media.schema))
        if (pattern.test(text) && !schema.format && !schema.pattern && !actor.test(at)) undeclared.push(`${call}${at}`)
    }
    assert.deepEqual(undeclared, [])
  })

  it('gives every operation an id of its own', () => {
    const ids = routes.map(({ method }) => method)
    assert.equal(new Set(ids).size, ids.length)
  })

  it('names the list parameters as the wire does', () => {
    const names = (operation('get', '/api/audience').parameters as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names, ['$page', '$limit', 'filter', 'sort', 'populate', 'projection', 'pagination'])
  })

  it('says what a body must hold', () => {
    const body = operation('post', '/api/tokens') as {
      requestBody: {
        content: { 'application/json': { schema: { required: string[]; additionalProperties: boolean } } }
      }
    }
    const { schema } = body.requestBody.content['application/json']
    assert.deepEqual([schema.required, schema.additionalProperties], [['name'], false])
  })

  it('says of every field of a body what it may hold', () => {
    const bodies = Object.values(document.paths).flatMap(Object.values) as {
      requestBody?: { content: Record<string, Media> }
    }[]
    const fields = bodies.flatMap(({ requestBody }) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => Object.entries(schema.properties ?? {})),
    )
    assert.ok(fields.length > 100)
    const vague = fields.filter(([, { description: _, ...schema }]) => Object.keys(schema).length === 0)
    assert.deepEqual(vague, [])
  })

  it('speaks OAuth where a route does: forms, names and refusals', () => {
    type Described = { content: Record<string, { schema: { required: string[]; properties: object } }> }
    const { requestBody, responses } = operation('post', '/api/auth/token') as {
      requestBody: Described
      responses: Record<string, unknown>
    }
    assert.deepEqual(Object.keys(requestBody.content), ['application/x-www-form-urlencoded', 'application/json'])
    const { required, properties } = requestBody.content['application/json']!.schema
    assert.deepEqual(required, ['grant_type'])
    assert.ok('subject_token_type' in properties && !('subjectTokenType' in properties))
    assert.deepEqual(responses[401], { $ref: '#/components/responses/OAuthError' })
    const answer = document.components.schemas.RegisteredClient as { required: string[]; properties: object }
    assert.ok('client_secret' in answer.properties && !answer.required.includes('client_secret'))
    assert.ok(answer.required.includes('client_id_issued_at'))
  })

  it('never shows a secret outside the answer that creates it', () => {
    const withToken = Object.entries(document.components.schemas).filter(([, { properties }]) => {
      const { token } = properties as { token?: Schema }
      return token && !('$ref' in token) // otherwise the record, which holds no secret
    })
    assert.deepEqual(withToken.map(([name]) => name).sort(), [
      'CreatedToken',
      'FirstFactor',
      'Impersonation',
      'Registration',
      'SignIn',
    ])
  })

  it('describes what webhooks get, with examples that the schemas accept', () => {
    const ajv = new Ajv2020({ strict: false, ...quick })
    formats.default(ajv)
    ajv.addSchema({ $id: 'document', components: document.components })
    const within = (schema: Schema) => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'))
    assert.deepEqual(Object.keys(document.webhooks).sort(), Object.keys(eventContexts).sort())
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const { requestBody, parameters } = post as {
        requestBody: { content: Record<string, Media & { example: Schema }> }
        parameters: Schema[]
      }
      const { schema, example } = requestBody.content['application/json']!
      const accepts = ajv.compile(within(schema))
      assert.ok(accepts(example), `${type}: ${ajv.errorsText(accepts.errors)}`)
      assert.equal(example.type, type)
      assert.ok(!accepts({ ...example, data: {} }), `${type} accepts anything`)
      const thin = { ...example, data: { id: '64b0c0ffee0123456789abcd', truncated: true }, test: true }
      assert.ok(accepts(thin), `${type}: ${ajv.errorsText(accepts.errors)}`)
      assert.equal(parameters.length, 3)
    }
  })
})

type Media = { schema: Schema }

/** Returns the JSON of an operation's success. */
function successOf(call: string): Media | undefined {
  const { verb, path, status } = routes.find(route => route.call === call)!
  const { responses } = operation(verb.toLowerCase(), path.replace(/:(\w+)/g, '{$1}')) as {
    responses: Record<string, { content: Record<string, Media> }>
  }
  return responses[status]?.content['application/json']
}

/** Returns every text of a value with its schema and place. What free JSON holds is left out. */
function textsOf(value: unknown, given: Schema, at = ''): [text: string, schema: Schema, at: string][] {
  const schema = resolved(given, value)
  if (typeof value === 'string') return [[value, schema, at]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const of = (Array.isArray(value) ? schema.items : (schema.properties as Schema | undefined)?.[name]) as Schema
    return of === undefined || Object.keys(of).length === 0 ? [] : textsOf(inner, of, `${at}.${name}`)
  })
}

/** Follows references, and chooses the alternative that has the value's type. */
function resolved(schema: Schema, value: unknown): Schema {
  if (typeof schema.$ref === 'string')
    return resolved(document.components.schemas[schema.$ref.split('/').at(-1)!]!, value)
  if (!Array.isArray(schema.oneOf)) return schema
  return resolved(schema.oneOf[0], value)
}
