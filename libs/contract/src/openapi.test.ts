import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { generateOpenApi } from './openapi.ts'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'

const routes = compileRoutes(loadRoot())
const document = generateOpenApi(routes, '1.2.3')
const operation = (verb: string, path: string) => document.paths[path]?.[verb] as Record<string, unknown>

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
    const withToken = Object.entries(document.components.schemas).filter(
      ([, schema]) => 'token' in (schema.properties as object),
    )
    assert.deepEqual(withToken.map(([name]) => name).sort(), [
      'CreatedToken',
      'Impersonation',
      'Me',
      'Registration',
      'SignIn',
    ])
  })
})
