import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import protobuf from 'protobufjs'
import { ContractError } from './options.ts'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'

const head = `
  syntax = "proto3";
  package rollcall.trial.v1;
  import "google/api/annotations.proto";
  import "google/api/httpbody.proto";
  import "rollcall/options.proto";
  import "rollcall/types.proto";
  message Thing { string name = 1; }
  message ThingRequest { string id = 1; string name = 2; }
`

/** Compiles the contract with one more rpc in it, made of these lines. */
function compileWith(
  rpcOptions: string,
  { messages = '', request = 'ThingRequest', response = 'rollcall.Updated' } = {},
) {
  const root = loadRoot()
  const source = `${head}${messages}
    service Things { rpc DoThing(${request}) returns (${response}) { ${rpcOptions} } }`
  protobuf.parse(source, root, { keepCase: false, alternateCommentMode: true })
  root.resolveAll()
  return compileRoutes(root)
}

const http = 'option (google.api.http) = { patch: "/api/things/{id}" body: "*" };'
const access = 'option (rollcall.access) = { resource: "audience" };'

describe('compileRoutes', () => {
  it('turns an annotated rpc into a route', () => {
    const route = compileWith(http + access).find(({ method }) => method === 'doThing')!
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

  it('asks for the scope of the method on a route for any caller', () => {
    const scopeOf = (scopedAs: string) => {
      const option = `option (rollcall.access) = { caller: true scoped_as: "${scopedAs}" };`
      return compileWith(http + option).find(({ method }) => method === 'doThing')!.access
    }
    assert.deepEqual(scopeOf('email_senders'), { kind: 'caller', scope: 'email_senders.update' })
    assert.deepEqual(scopeOf('any'), { kind: 'caller', scope: 'any' })
    assert.deepEqual(scopeOf('none'), { kind: 'caller', scope: 'none' })
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
      const routes = compileWith(`option (google.api.http) = { ${method}: "/api/things/{id}" }; ${access}`)
      const route = routes.find(({ method: name }) => name === 'doThing')!
      assert.deepEqual(route.access, { kind: 'permission', resource: 'audience', action })
    })
  }

  const refusals: [what: string, options: string, more: Parameters<typeof compileWith>[1], message: RegExp][] = [
    ['a route without access', http, {}, /exactly one access/],
    [
      'a route with two kinds of access',
      `${http} option (rollcall.access) = { resource: "audience" public: true };`,
      {},
      /exactly one access/,
    ],
    [
      'a route for any caller without a required scope',
      `${http} option (rollcall.access) = { caller: true };`,
      {},
      /declares scoped_as/,
    ],
    [
      'an unknown required scope',
      `${http} option (rollcall.access) = { caller: true scoped_as: "audiences" };`,
      {},
      /declares scoped_as/,
    ],
    [
      'a required scope beside a permission',
      `${http} option (rollcall.access) = { resource: "audience" scoped_as: "audience" };`,
      {},
      /scoped_as goes with caller only/,
    ],
    [
      'an unknown permission',
      `${http} option (rollcall.access) = { resource: "audiences" };`,
      {},
      /unknown permission resource audiences/,
    ],
    [
      'an unknown limit group',
      `${http} ${access} option (rollcall.limit) = LOGINS;`,
      {},
      /limit has an unknown value: LOGINS/,
    ],
    [
      'the global limit as a group',
      `${http} ${access} option (rollcall.limit) = GLOBAL;`,
      {},
      /limit has an unknown value: GLOBAL/,
    ],
    [
      'an unknown second permission',
      `${http} option (rollcall.access) = { resource: "audience" also: "users.see" };`,
      {},
      /unknown permission users.see/,
    ],
    [
      'a second permission without a first one',
      `${http} option (rollcall.access) = { caller: true also: "users.read" };`,
      {},
      /also needs a resource/,
    ],
    [
      'an unknown transport',
      `${http} ${access} option (rollcall.via) = PIGEON;`,
      {},
      /via has an unknown value: PIGEON/,
    ],
    [
      'an option that is not declared',
      `${http} ${access} option (rollcall.acess) = { public: true };`,
      {},
      /acess is not declared/,
    ],
    [
      'an unknown key in an option',
      `${http} option (rollcall.access) = { ressource: "audience" };`,
      {},
      /unknown key: ressource/,
    ],
    [
      'a value of the wrong type in an option',
      `${http} option (rollcall.access) = { public: "yes" };`,
      {},
      /must be a boolean/,
    ],
    [
      'an unknown key in an http rule',
      `option (google.api.http) = { patch: "/api/things/{id}" bodie: "*" }; ${access}`,
      {},
      /unknown key: bodie/,
    ],
    ['an http rule without a verb', `option (google.api.http) = { body: "*" }; ${access}`, {}, /without a verb/],
    [
      'a path variable that the request lacks',
      `option (google.api.http) = { get: "/api/things/{thing_id}" }; ${access}`,
      {},
      /path variable thingId/,
    ],
    [
      'a verb and path that another rpc has',
      `option (google.api.http) = { patch: "/api/audience/{name}" }; ${access}`,
      {},
      /both on PATCH/,
    ],
    [
      'a returned message that does not exist',
      `${http} ${access} option (rollcall.returns) = { page_of: "Thingy" };`,
      {},
      /unknown message Thingy/,
    ],
    [
      'finished bytes that say not what they hold',
      http + access,
      { response: 'google.api.HttpBody' },
      /need a returns option/,
    ],
    [
      'an unknown rule key',
      http + access,
      {
        messages: 'message Ruled { string id = 1; string a = 2 [(rollcall.rule) = { maxlen: 3 }]; }',
        request: 'Ruled',
      },
      /unknown key: maxlen/,
    ],
    [
      'an unknown format',
      http + access,
      {
        messages: 'message Ruled { string id = 1; string a = 2 [(rollcall.rule) = { format: PHONE }]; }',
        request: 'Ruled',
      },
      /unknown value: PHONE/,
    ],
    [
      'an unknown rule on a message that no route takes',
      http + access,
      { messages: 'message Idle { string a = 1 [(rollcall.rule) = { requird: true }]; }' },
      /unknown key: requird/,
    ],
  ]
  for (const [what, options, more, message] of refusals) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => compileWith(options, more),
        error => error instanceof ContractError && message.test(error.message),
      )
    })
  }
})
