import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Route, ruleOf } from '@rollcall/contract'
import { type Answer, bodyOf } from './api.ts'
import { fromElsewhere as from, manyAddresses, pathOf, routes, titleOf } from './every-route.ts'
import { exampleOf, makeOneOfEach, ownPath, queryFieldsOf } from './example.ts'
import { startStack, type TestStack } from './stack.ts'

type Refusal = { message: string; path?: string }

const requiredOf = (route: Route) =>
  route.rpc.resolvedRequestType!.fieldsArray.some(field => field.options?.['(rollcall.rule).required'])

/** The client itself checks every answer against the contract: status, content type, schema, headers. */
describe('the contract of every route', () => {
  let stack: TestStack
  before(async () => {
    stack = await startStack({ settings: manyAddresses })
    await makeOneOfEach(stack.owner)
  })
  after(() => stack.stop())

  const send = <Body = Refusal>(route: Route, sent: object, path = pathOf(route)): Promise<Answer<Body>> =>
    from(stack.owner).request(route.verb, path, sent)

  for (const route of routes.filter(({ access }) => access.kind !== 'public')) {
    it(`${titleOf(route)} refuses who has no credential`, async () => {
      const { status, text, headers } = await from(stack.api).request(route.verb, pathOf(route))
      assert.deepEqual([status, text], [401, 'Unauthorized'])
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer/)
    })
  }

  for (const route of routes.filter(({ via }) => via === 'json' || via === 'sign_in')) {
    it(`${titleOf(route)} refuses a query parameter it does not have`, async () => {
      const needed = queryFieldsOf(route).filter(field => ruleOf(field).required)
      const query = { ...Object.fromEntries(needed.map(field => [field.name, exampleOf(field)])), nonsense: 1 }
      const path = await ownPath(from(stack.owner), route)
      const { message } = await bodyOf(send(route, { query, ...(route.hasBody && { body: {} }) }, path), 400)
      assert.equal(message, 'extra field -> nonsense')
    })
  }

  for (const route of routes.filter(({ hasBody, via }) => hasBody && (via === 'json' || via === 'sign_in'))) {
    it(`${titleOf(route)} refuses a body that is no JSON object, and fields it does not have`, async () => {
      for (const body of ['[]', '"text"', '{', '']) {
        const headers = { 'content-type': 'application/json' }
        const answer = await send(route, { body, headers })
        // A missing body counts as one without fields.
        if (body !== '' || requiredOf(route)) assert.equal(answer.status, 400, answer.text)
      }
      const polluted = await send(route, {
        body: '{"__proto__":{"a":1}}',
        headers: { 'content-type': 'application/json' },
      })
      assert.match(polluted.body.message, requiredOf(route) ? /^missing field/ : /^extra field -> __proto__$/)
    })
  }

  for (const route of routes.filter(({ path }) => path.includes(':id'))) {
    it(`${titleOf(route)} distinguishes a malformed id from an unknown one`, async () => {
      const malformed = await bodyOf(send(route, route.hasBody ? { body: {} } : {}, pathOf(route, 'nonsense')), 400)
      assert.equal(malformed.path, 'id')
      if (route.hasBody) return
      const { message } = await bodyOf(send(route, {}), 404)
      assert.match(message, / not found$/)
    })
  }

  for (const route of routes.filter(({ returns }) => returns.pageOf)) {
    it(`${titleOf(route)} honours the shared list parameters`, async () => {
      const path = await ownPath(from(stack.owner), route)
      const list = <Body = Refusal>(query: object) => send<Body>(route, { query }, path)
      const refused = await bodyOf(list({ filter: '{"__proto__":1}' }), 400)
      assert.equal(refused.path, 'filter')
      const page = await bodyOf(list<{ limit: number; docs: [] }>({ $limit: 5000, $page: 9 }))
      assert.deepEqual([page.limit, page.docs], [1000, []])
      const all = await bodyOf(list({ pagination: 'false', sort: '{"createdAt":1}' }))
      assert.ok(Array.isArray(all))
    })
  }

  it('has no other routes', async () => {
    for (const path of ['/api', '/api/', '/api/nope', '/api/audience/x/y/z']) {
      const { status, body } = await from(stack.owner).get<Refusal>(path)
      assert.deepEqual([status, body.message], [404, 'route not found'])
    }
  })
})
