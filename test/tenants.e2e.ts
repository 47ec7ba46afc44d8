import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { type Route, ruleOf } from '@rollcall/contract'
import { mongo, Query } from 'mongoose'
import { type Answer, type Api, bodyOf } from './api.ts'
import { fromElsewhere, manyAddresses, routes, titleOf, unknownId } from './every-route.ts'
import { bodyFieldsOf, exampleBody, type Field, idOfEachKind, makeOneOfEach, ownPath } from './example.ts'
import { startStack, type TestStack } from './stack.ts'

/** Headers that differ in each answer. */
const ofTheMoment = new Set(['x-request-id', 'date'])
const isOfTheMoment = (name: string) => ofTheMoment.has(name) || name.startsWith('ratelimit-')

/** A place of a request for an id, with a function that builds the request. `isOwn`: the route's service alone reads it. */
type Place = { what: string; isOwn: boolean; ask(api: Api, id: string): Promise<Answer> }

/** Returns the parts of an answer that could distinguish it from another. */
function imprintOf({ status, headers, text }: Answer): string {
  const shown = text.replace(/^\{"jobId":"[0-9a-f]{24}"\}$/, '{"jobId":"…"}') // each answer names a job of its own
  return JSON.stringify([status, [...headers].filter(([name]) => !isOfTheMoment(name)), shown])
}

const contextOf = ({ service }: Route) => service.split('.')[1]

/** Returns the context that has a kind of records, by the path of their list; identity has the organization itself. */
function contextOfKind(kind: string): string | undefined {
  const list = routes.find(({ path, returns }) => path === kind && returns.pageOf)
  return list ? contextOf(list) : 'identity'
}

const namesRecords = (field: Field) => ruleOf(field).format === 'object_id' || /Ids?$/.test(field.name)

/** Returns every place for an id in a route: path variables, body fields, the filter of a list. */
async function placesOf(route: Route, own: string): Promise<Place[]> {
  const { verb, path, hasBody, returns } = route
  const body = hasBody ? { body: exampleBody(route) } : {}
  const ownParts = own.split('/')
  const variables = path.split('/').flatMap((part, index) => (part.startsWith(':') ? [index] : []))
  const inPath = variables.map(index => ({
    what: `${path.split('/')[index]}`,
    isOwn: true,
    ask: (api: Api, id: string) => api.request(verb, ownParts.toSpliced(index, 1, id).join('/'), body),
  }))
  const inBody = bodyFieldsOf(route)
    .filter(namesRecords)
    .map(field => ({
      what: field.name,
      isOwn: false,
      ask: (api: Api, id: string) =>
        api.request(verb, own, { body: { ...body.body, [field.name]: field.repeated ? [id] : id } }),
    }))
  const inFilter = {
    what: 'filter',
    isOwn: true,
    ask: (api: Api, id: string) => api.request(verb, own, { query: { filter: { _id: id } } }),
  }
  return [...inPath, ...inBody, ...(returns.pageOf ? [inFilter] : [])]
}

describe('of another organization', () => {
  let stack: TestStack
  let stranger: Api
  /** Ids of the first organization, one of each kind, by the path of its list. */
  let foreign: Map<string, string>
  let tried = 0
  let notMade: string[]

  before(async () => {
    stack = await startStack({ settings: { ...manyAddresses, REGISTRATION: 'open' } })
    const account = { name: 'Stranger', email: 'stranger@example.com', password: 'made for tests only' }
    const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', account), 201)
    stranger = stack.api.as(token)
    notMade = await makeOneOfEach(stack.owner)
    await makeOneOfEach(stranger)
    foreign = await idOfEachKind(stack.owner)
    const { organization } = await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))
    foreign.set('the organization', organization.id)
  })
  after(() => stack?.stop())

  /** Returns the requests by which another organization can distinguish an existing id from an unknown one. */
  const tellsOn = async (route: Route, kinds: readonly string[] = [...foreign.keys()]): Promise<string[]> => {
    const own = await ownPath(stranger, route)
    const differences: string[] = []
    for (const { what, isOwn, ask } of await placesOf(route, own)) {
      const unknown = imprintOf(await ask(fromElsewhere(stranger), unknownId))
      const known = isOwn ? kinds.filter(kind => contextOfKind(kind) === contextOf(route)) : kinds
      for (const kind of known) {
        tried++
        const answer = imprintOf(await ask(fromElsewhere(stranger), foreign.get(kind)!))
        if (answer !== unknown)
          differences.push(`${titleOf(route)} ${what}, an id of ${kind}: ${answer}, not ${unknown}`)
      }
    }
    return differences
  }

  const concerned = routes.filter(
    route =>
      route.via === 'json' &&
      route.access.kind !== 'public' &&
      (route.path.includes(':') || route.returns.pageOf || bodyFieldsOf(route).some(namesRecords)),
  )
  for (const route of concerned) {
    it(`nothing shows at ${titleOf(route)}`, async () => assert.deepEqual(await tellsOn(route), []))
  }

  it('nothing is changed by the attempts', async () => {
    assert.deepEqual(await idOfEachKind(stack.owner), new Map([...foreign].filter(([kind]) => kind.startsWith('/'))))
  })

  it('everything would show where a handler finds records without the tenant clause', async () => {
    const { exec } = Query.prototype
    const withoutTenant = mock.method(Query.prototype, 'exec', function (this: Query<unknown, unknown>) {
      const { organization: _, ...filter } = this.getFilter()
      this.setQuery(filter)
      return exec.call(this)
    })
    // Reads of records by id that share a command are no queries of mongoose.
    const { find } = mongo.Collection.prototype
    const together = mock.method(mongo.Collection.prototype, 'find', function (
      this: mongo.Collection,
      { organization: _, ...filter }: mongo.Document = {},
      options?: mongo.FindOptions,
    ) {
      return find.call(this, filter, options)
    } as typeof find)
    try {
      for (const path of ['/api/users/:id', '/api/tokens/:id/usage', '/api/features/:id']) {
        const route = routes.find(route => titleOf(route) === `GET ${path}`)!
        assert.notDeepEqual(await tellsOn(route, [path.replace(/\/:id.*/, '')]), [], path)
      }
    } finally {
      withoutTenant.mock.restore()
      together.mock.restore()
    }
  })

  it('an id of every kind was tried', t => {
    const kinds = [...foreign.keys()]
    for (const kind of ['/api/audience', '/api/tokens', '/api/users', '/api/access-control/roles', '/api/workspaces'])
      assert.ok(kinds.includes(kind), kind)
    t.diagnostic(
      `tenants: ${kinds.length} kinds of ids, ${concerned.length} routes, ${tried} attempts; ${kinds.join(' ')}`,
    )
    if (notMade.length > 0) t.diagnostic(`not made: ${notMade.join('; ')}`)
  })
})
