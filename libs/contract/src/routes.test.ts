import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import protobuf from 'protobufjs'
import { ContractError } from './options.ts'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'

const HEAD = `
  syntax = "proto3";
  package rollcall.trial.v1;
  import "google/api/annotations.proto";
  import "google/api/httpbody.proto";
  import "rollcall/options.proto";
  import "rollcall/types.proto";
  message Thing { string name = 1; }
  message ThingRequest { string id = 1; string name = 2; }
`

/** The contract. Parsing it takes long, so that tests share it. */
const root = loadRoot()

/** Compiles the contract with one more rpc in it, made of these lines. */
function compileWith(
  rpcOptions: string,
  { messages = '', request = 'ThingRequest', response = 'rollcall.Updated' } = {},
) {
  const source = `${HEAD}${messages}
    service Things { rpc DoThing(${request}) returns (${response}) { ${rpcOptions} } }`
  try {
    protobuf.parse(source, root, { keepCase: false, alternateCommentMode: true })
    root.resolveAll()
    const { routes, pages } = compileRoutes(root)
    return [...routes, ...pages]
  } finally {
    const trial = root.lookup('rollcall.trial')
    if (trial) trial.parent!.remove(trial)
  }
}

const HTTP = 'option (google.api.http) = { patch: "/api/things/{id}" body: "*" };'
const PUBLIC = 'option (rollcall.access) = { public: true };'
const ACCESS = 'option (rollcall.access) = { resource: "audience" };'

describe('compileRoutes', () => {
  it('turns an annotated rpc into a route', () => {
    const route = compileWith(HTTP + ACCESS).find(({ method }) => method === 'doThing')!
    const { service, verb, path, status, via, limit, hasBody, streams } = route
    assert.deepEqual(
      { service, verb, path, status, via, limit, hasBody, streams },
      {
        service: 'rollcall.trial.v1.Things',
        verb: 'PATCH',
        path: '/api/things/:id',
        status: 200,
        via: 'json',
        limit: undefined,
        hasBody: true,
        streams: false,
      },
    )
    assert.deepEqual(route.access, { kind: 'permission', resource: 'audience', action: 'update' })
  })

  it('names the call of the SDK: the rpc without the noun of its service, or the option sdk', () => {
    const callOf = (options: string) => compileWith(options).find(({ method }) => method === 'doThing')!.call
    assert.equal(callOf(HTTP + ACCESS), 'things.do')
    assert.equal(callOf(`${HTTP}${ACCESS} option (rollcall.sdk) = "perform";`), 'things.perform')
    const calls = compileRoutes(root).routes.map(({ call }) => call)
    for (const call of ['contacts.list', 'domains.rotateDkim', 'users.listSessions', 'members.list'])
      assert.ok(calls.includes(call), call)
  })

  it('refuses two rpcs with one call name', () => {
    const rpc = `rpc FetchContact(ThingRequest) returns (rollcall.Updated) {
      option (google.api.http) = { get: "/api/other/{id}" }; option (rollcall.sdk) = "get"; ${ACCESS} }`
    assert.throws(
      () => compileWith(HTTP + ACCESS, { messages: `service Contacts { ${rpc} }` }),
      error => error instanceof ContractError && /are both on contacts\.get$/.test(error.message),
    )
  })

  it('asks for the scope of the method on a route for any caller', () => {
    const scopeOf = (scopedAs: string) => {
      const option = `option (rollcall.access) = { caller: true scoped_as: "${scopedAs}" };`
      return compileWith(HTTP + option).find(({ method }) => method === 'doThing')!.access
    }
    assert.deepEqual(scopeOf('email_senders'), { kind: 'caller', scope: 'email_senders.update' })
    assert.deepEqual(scopeOf('any'), { kind: 'caller', scope: 'any' })
    assert.deepEqual(scopeOf('none'), { kind: 'caller', scope: 'none' })
  })

  it('knows routes that refuse API tokens, among those for any caller', () => {
    const option = 'option (rollcall.access) = { caller: true scoped_as: "none" session_only: true };'
    const route = compileWith(HTTP + option).find(({ method }) => method === 'doThing')!
    assert.deepEqual(route.access, { kind: 'caller', scope: 'none', sessionOnly: true })
    assert.ok(route.errors.includes('access.session_required'))
    const onPermission = 'option (rollcall.access) = { resource: "audience" session_only: true };'
    assert.throws(() => compileWith(HTTP + onPermission), /session_only goes with caller only/)
  })

  it('leaves an rpc without an http rule to the services', () => {
    assert.ok(!compileWith('').some(({ method }) => method === 'doThing'))
  })

  for (const [method, action] of [
    ['get', 'read'],
    ['post', 'create'],
    ['put', 'update'],
    ['patch', 'update'],
    ['delete', 'delete'],
  ] as const) {
    it(`asks for ${action} on ${method.toUpperCase()}`, () => {
      const routes = compileWith(`option (google.api.http) = { ${method}: "/api/things/{id}" }; ${ACCESS}`)
      const route = routes.find(({ method: name }) => name === 'doThing')!
      assert.deepEqual(route.access, { kind: 'permission', resource: 'audience', action })
    })
  }

  const refusals: [what: string, options: string, more: Parameters<typeof compileWith>[1], message: RegExp][] = [
    ['a route without access', HTTP, {}, /exactly one access/],
    [
      'a route with two kinds of access',
      `${HTTP} option (rollcall.access) = { resource: "audience" public: true };`,
      {},
      /exactly one access/,
    ],
    [
      'a route for any caller without a required scope',
      `${HTTP} option (rollcall.access) = { caller: true };`,
      {},
      /declares scoped_as/,
    ],
    [
      'an unknown required scope',
      `${HTTP} option (rollcall.access) = { caller: true scoped_as: "audiences" };`,
      {},
      /declares scoped_as/,
    ],
    [
      'a required scope beside a permission',
      `${HTTP} option (rollcall.access) = { resource: "audience" scoped_as: "audience" };`,
      {},
      /scoped_as goes with caller only/,
    ],
    [
      'an unknown permission',
      `${HTTP} option (rollcall.access) = { resource: "audiences" };`,
      {},
      /unknown permission resource audiences/,
    ],
    [
      'an unknown limit group',
      `${HTTP} ${ACCESS} option (rollcall.limit) = LOGINS;`,
      {},
      /limit has an unknown value: LOGINS/,
    ],
    [
      'the global limit as a group',
      `${HTTP} ${ACCESS} option (rollcall.limit) = GLOBAL;`,
      {},
      /limit has an unknown value: GLOBAL/,
    ],
    [
      'an unknown second permission',
      `${HTTP} option (rollcall.access) = { resource: "audience" also: "users.see" };`,
      {},
      /unknown permission users.see/,
    ],
    [
      'a second permission without a first one',
      `${HTTP} option (rollcall.access) = { caller: true also: "users.read" };`,
      {},
      /also needs a resource/,
    ],
    [
      'an unknown transport',
      `${HTTP} ${ACCESS} option (rollcall.via) = PIGEON;`,
      {},
      /via has an unknown value: PIGEON/,
    ],
    [
      'an option that is not declared',
      `${HTTP} ${ACCESS} option (rollcall.acess) = { public: true };`,
      {},
      /acess is not declared/,
    ],
    [
      'an unknown key in an option',
      `${HTTP} option (rollcall.access) = { ressource: "audience" };`,
      {},
      /unknown key: ressource/,
    ],
    [
      'a value of the wrong type in an option',
      `${HTTP} option (rollcall.access) = { public: "yes" };`,
      {},
      /must be a boolean/,
    ],
    [
      'an unknown key in an http rule',
      `option (google.api.http) = { patch: "/api/things/{id}" bodie: "*" }; ${ACCESS}`,
      {},
      /unknown key: bodie/,
    ],
    ['an http rule without a verb', `option (google.api.http) = { body: "*" }; ${ACCESS}`, {}, /without a verb/],
    [
      'a path variable that the request lacks',
      `option (google.api.http) = { get: "/api/things/{thing_id}" }; ${ACCESS}`,
      {},
      /path variable thingId/,
    ],
    [
      'a verb and path that another rpc has',
      `option (google.api.http) = { patch: "/api/audience/{name}" }; ${ACCESS}`,
      {},
      /both on PATCH/,
    ],
    [
      'a returned message that does not exist',
      `${HTTP} ${ACCESS} option (rollcall.returns) = { page_of: "Thingy" };`,
      {},
      /unknown message Thingy/,
    ],
    [
      'finished bytes that say not what they hold',
      HTTP + ACCESS,
      { response: 'google.api.HttpBody' },
      /need a returns option/,
    ],
    [
      'a route outside /api that is no page',
      `option (google.api.http) = { patch: "/things/{id}" body: "*" }; ${ACCESS}`,
      {},
      /outside \/api is a page/,
    ],
    [
      'a page with other messages',
      `option (google.api.http) = { get: "/things/{id}" }; option (rollcall.via) = PAGE; ${PUBLIC}`,
      {},
      /takes a PageRequest/,
    ],
    [
      'a page that needs a credential',
      `option (google.api.http) = { get: "/things/{key}" }; option (rollcall.via) = PAGE; ${ACCESS}`,
      { request: 'rollcall.PageRequest', response: 'rollcall.PageResponse' },
      /a page is public/,
    ],
    [
      'an unknown rule key',
      HTTP + ACCESS,
      {
        messages: 'message Ruled { string id = 1; string a = 2 [(rollcall.rule) = { maxlen: 3 }]; }',
        request: 'Ruled',
      },
      /unknown key: maxlen/,
    ],
    [
      'an unknown format',
      HTTP + ACCESS,
      {
        messages: 'message Ruled { string id = 1; string a = 2 [(rollcall.rule) = { format: PHONE }]; }',
        request: 'Ruled',
      },
      /unknown value: PHONE/,
    ],
    [
      'an unknown rule on a message that no route takes',
      HTTP + ACCESS,
      { messages: 'message Idle { string a = 1 [(rollcall.rule) = { requird: true }]; }' },
      /unknown key: requird/,
    ],
  ]
  it('keeps public pages apart from the routes of the API', () => {
    const page = `option (google.api.http) = { get: "/p/{key}" }; option (rollcall.via) = PAGE; ${PUBLIC}`
    const messages = `service Pages { rpc ShowThing(rollcall.PageRequest) returns (rollcall.PageResponse) { ${page} } }`
    const routes = compileWith(HTTP + ACCESS, { messages })
    const shown = routes.filter(({ via }) => via === 'page').find(({ method }) => method === 'showThing')!
    assert.deepEqual([shown.path, shown.access, shown.carrier.body], ['/p/:key', { kind: 'public' }, 'raw'])
    assert.ok(compileRoutes(root).routes.every(({ via, path }) => via !== 'page' && path.startsWith('/api/')))
  })

  for (const [what, options, more, message] of refusals) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => compileWith(options, more),
        error => error instanceof ContractError && message.test(error.message),
      )
    })
  }
})
