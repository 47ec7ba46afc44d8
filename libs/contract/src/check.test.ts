import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { compileCheck } from './check.ts'
import { AppError } from './errors.ts'
import { loadRoot } from './root.ts'

const root = loadRoot()
protobuf.parse(
  `syntax = "proto3";
  package rollcall.trial.v1;
  import "rollcall/options.proto";
  import "rollcall/types.proto";
  message Inner { string host = 1 [(rollcall.rule) = { required: true }]; optional int32 port = 2; }
  message Sample {
    string id = 1 [(rollcall.rule) = { format: OBJECT_ID }];
    string name = 2 [(rollcall.rule) = { required: true trim: true max_len: 5 }];
    optional string email = 3 [(rollcall.rule) = { format: EMAIL }];
    optional bool flag = 4;
    optional int32 count = 5;
    optional double share = 6;
    optional string kind = 7 [(rollcall.rule) = { one_of: "api user" }];
    optional string at = 8 [(rollcall.rule) = { format: DATE }];
    optional string user = 9 [(rollcall.rule) = { format: OBJECT_ID nullable: true }];
    repeated string tags = 10 [(rollcall.rule) = { max_items: 3 max_len: 4 min_len: 1 }];
    repeated string ids = 11 [(rollcall.rule) = { non_empty: true }];
    optional string free = 12 [(rollcall.rule) = { json: SCALARS }];
    optional string words = 13 [(rollcall.rule) = { json: STRINGS }];
    Inner inner = 14;
    string must = 15 [(rollcall.rule) = { required: true }];
    optional string labels = 16 [(rollcall.rule) = { json: TEXTS trim: true min_len: 1 max_len: 4 max_items: 2 }];
    optional string flags = 17 [(rollcall.rule) = { json: FLAGS }];
    repeated string nets = 18 [(rollcall.rule) = { format: CIDR }];
    optional int32 hours = 19 [(rollcall.rule) = { min: 0 max: 24 }];
  }
  message Either { option (rollcall.shape) = { any_field: true }; string id = 1; optional string a = 2; optional string b = 3; }
  message Open { option (rollcall.shape) = { open: true }; string name = 1; }
  message Listing {
    rollcall.ListQuery list = 1;
    optional string kind = 2 [(rollcall.rule) = { one_of: "api user" }];
    optional int32 hours = 3;
    optional bool all = 4;
  }
  `,
  root,
  { keepCase: false },
)
root.resolveAll()

const id = 'a1'.repeat(12)
const checkSample = compileCheck(root.lookupType('rollcall.trial.v1.Sample'), ['id'], true)
const checkEither = compileCheck(root.lookupType('rollcall.trial.v1.Either'), ['id'], true)
const checkOpen = compileCheck(root.lookupType('rollcall.trial.v1.Open'), [], true)
const checkOpenQuery = compileCheck(root.lookupType('rollcall.trial.v1.Open'), [], false)
const checkListing = compileCheck(root.lookupType('rollcall.trial.v1.Listing'), [], false)
const good = { name: 'Name', must: 'x' }

const sample = (body: unknown, params = { id }, query = {}) => checkSample({ params, query, body })
const listing = (query: Record<string, unknown>) => checkListing({ params: {}, query })

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError && error.status === 400) return error.message
    throw error
  }
  return 'accepted'
}

describe('the check of a body', () => {
  it('gives the rpc what it takes', () => {
    const body = {
      ...good,
      name: '  One ',
      tags: ['a', 'b'],
      free: { a: 1, b: null },
      inner: { host: 'h', port: 25 },
      count: 7,
      flag: false,
    }
    assert.deepEqual(sample(body).request, {
      id,
      name: 'One',
      must: 'x',
      tags: ['a', 'b'],
      ids: [],
      nets: [],
      free: { a: 1, b: null },
      inner: { host: 'h', port: 25 },
      count: 7,
      flag: false,
    })
  })

  it('takes IP addresses and CIDR blocks, and nothing that resembles them', () => {
    const nets = ['192.0.2.1', '192.0.2.0/24', '0.0.0.0/0', '2001:db8::1', '2001:db8::/32', '::ffff:192.0.2.0/120']
    assert.deepEqual(sample({ ...good, nets }).request.nets, nets)
    const bad = [
      '192.0.2.0/33',
      '2001:db8::/129',
      '192.0.2',
      '192.0.2.1/',
      '192.0.2.1/-1',
      '192.0.2.1/8/8',
      'fe80::1%eth0',
      '',
    ]
    for (const net of bad) {
      const refused = refusal(() => sample({ ...good, nets: ['192.0.2.1', net] }))
      assert.equal(refused, 'invalid field -> nets.1: must be an IP address or a CIDR block', net)
    }
  })

  it('takes an array of texts, of which an empty one differs from none', () => {
    assert.deepEqual(sample({ ...good, labels: [' ab ', 'c'] }).request.labels, ['ab', 'c'])
    assert.deepEqual(sample({ ...good, labels: [] }).request.labels, [])
    assert.equal(sample(good).request.labels, undefined)
  })

  it('ignores unknown fields of an open message only', () => {
    assert.deepEqual(checkOpen({ params: {}, query: {}, body: { name: 'x', more: 1 } }).request, { name: 'x' })
    const asked = checkOpenQuery({ params: {}, query: { name: 'x', more: '1' } })
    assert.deepEqual(asked.request, { name: 'x' })
  })

  it('carries null as the empty string where null is a value', () => {
    assert.equal(sample({ ...good, user: null }).request.user, '')
  })

  const cases: [what: string, body: unknown, message: string][] = [
    ['a missing field', {}, 'missing field -> name'],
    ['the first missing field in declared order', { must: 'x' }, 'missing field -> name'],
    ['missing before extra', { name: 'x', zzz: 1 }, 'missing field -> must'],
    ['extra before invalid', { ...good, flag: 'yes', zzz: 1 }, 'extra field -> zzz'],
    ['invalid before empty', { ...good, ids: [], flag: 'yes' }, 'invalid field -> flag: must be true or false'],
    ['an empty list that must name something', { ...good, ids: [] }, 'empty array -> ids'],
    ['a required text that is empty', { ...good, name: '' }, 'invalid field -> name: must not be empty'],
    ['a required text of white space', { ...good, name: '  ' }, 'invalid field -> name: must not be empty'],
    ['a text that is too long', { ...good, name: 'abcdef' }, 'invalid field -> name: at most 5 characters'],
    ['a number for a text', { ...good, name: 5 }, 'invalid field -> name: must be a string'],
    ['null for a text', { ...good, email: null }, 'invalid field -> email: must be a string'],
    ['a broken email', { ...good, email: 'a@' }, 'invalid field -> email: must be an email address'],
    ['half a character', { ...good, email: '\ud800@example.com' }, 'invalid field -> email: must be an email address'],
    ['a value that is not allowed', { ...good, kind: 'both' }, 'invalid field -> kind: must be one of api, user'],
    ['a broken date', { ...good, at: '2026-13-01' }, 'invalid field -> at: must be an ISO 8601 date'],
    ['a day on no calendar', { ...good, at: '2024-02-31' }, 'invalid field -> at: must be an ISO 8601 date'],
    ['a text for a flag', { ...good, flag: 'true' }, 'invalid field -> flag: must be true or false'],
    ['a number below its bounds', { ...good, hours: -1 }, 'invalid field -> hours: must be from 0 to 24'],
    ['a number above its bounds', { ...good, hours: 25 }, 'invalid field -> hours: must be from 0 to 24'],
    ['a fraction for an integer', { ...good, count: 1.5 }, 'invalid field -> count: must be an integer'],
    ['an integer past 32 bits', { ...good, count: 2 ** 31 }, 'invalid field -> count: must be an integer'],
    ['a text for a number', { ...good, share: '1' }, 'invalid field -> share: must be a number'],
    ['an object for a list', { ...good, tags: {} }, 'invalid field -> tags: must be an array'],
    ['too many items', { ...good, tags: ['a', 'b', 'c', 'd'] }, 'invalid field -> tags: at most 3 items'],
    ['an item that is no text', { ...good, tags: ['a', 1] }, 'invalid field -> tags.1: must be a string'],
    ['an empty item', { ...good, tags: [''] }, 'invalid field -> tags.0: must not be empty'],
    ['a list for an object', { ...good, free: [] }, 'invalid field -> free: must be an object'],
    ['an object among scalars', { ...good, free: { a: { b: 1 } } }, 'invalid field -> free.a'],
    ['a number among texts', { ...good, words: { a: 1 } }, 'invalid field -> words.a'],
    ['a number among an array of texts', { ...good, labels: ['a', 1] }, 'invalid field -> labels.1: must be a string'],
    [
      'a long text in an array of texts',
      { ...good, labels: ['abcde'] },
      'invalid field -> labels.0: at most 4 characters',
    ],
    ['too long an array of texts', { ...good, labels: ['a', 'b', 'c'] }, 'invalid field -> labels: at most 2 items'],
    ['a text among flags', { ...good, flags: { a: true, b: null, c: 'x' } }, 'invalid field -> flags.c'],
    ['a missing field of an inner object', { ...good, inner: {} }, 'missing field -> inner.host'],
    ['an extra field of an inner object', { ...good, inner: { host: 'h', hots: 1 } }, 'extra field -> inner.hots'],
    ['a body that is a list', [], 'body must be a JSON object'],
    ['a body that is a text', 'x', 'body must be a JSON object'],
    ['a body that is null', null, 'body must be a JSON object'],
    ['the path variable given in the body', { ...good, id }, 'extra field -> id'],
    ['__proto__', JSON.parse('{"name":"x","must":"x","__proto__":{"a":1}}'), 'extra field -> __proto__'],
    ['constructor', { ...good, constructor: 1 }, 'extra field -> constructor'],
  ]
  for (const [what, body, message] of cases)
    it(`names ${what}`, () =>
      assert.equal(
        refusal(() => sample(body)),
        message,
      ))

  it('passes ids on in lower case, so that services may compare them as texts', () => {
    const { request } = sample({ ...good, user: 'B2'.repeat(12) }, { id: id.toUpperCase() })
    assert.deepEqual([request.id, request.user], [id, 'b2'.repeat(12)])
  })

  it('refuses a malformed id, before the body is looked at', () => {
    assert.match(
      refusal(() => sample({}, { id: 'nope' })),
      /^invalid field -> id/,
    )
  })

  it('refuses query parameters that a body route does not have', () => {
    assert.equal(
      refusal(() => sample(good, { id }, { debug: '1' })),
      'extra field -> debug',
    )
  })

  it('wants at least one field where any will do', () => {
    const either = (body: unknown) => checkEither({ params: { id }, query: {}, body })
    assert.equal(
      refusal(() => either({})),
      'missing field -> a',
    )
    assert.equal(
      refusal(() => either(undefined)),
      'missing field -> a',
    )
    assert.deepEqual(either({ b: 'x' }).request, { id, b: 'x' })
  })

  it('answers any JSON with a request or a declared error, and pollutes nothing', () => {
    const hostile = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('name', 'must', 'tags', 'free', 'inner', '__proto__', 'constructor'),
        fc.jsonValue(),
      ),
    )
    fc.assert(
      fc.property(hostile, body => void refusal(() => sample(JSON.parse(JSON.stringify(body))))),
      { numRuns: 2_000 },
    )
    assert.deepEqual(Object.keys(Object.prototype), [])
  })
})

describe('the check of a query', () => {
  it('fills in the list defaults', () => {
    assert.deepEqual(listing({}), { request: { list: { page: 1, limit: 10 } }, headers: {} })
  })

  it('passes the list parameters on', () => {
    const query = {
      $page: '3',
      $limit: '50',
      filter: '{"a":1}',
      sort: '{"a":-1}',
      populate: 'user',
      projection: '{"a":1}',
      pagination: 'false',
      kind: 'api',
    }
    const { $page: _page, $limit: _limit, kind, ...texts } = query
    assert.deepEqual(listing(query).request, { list: { ...texts, page: 3, limit: 50, pagination: false }, kind })
  })

  it('reads numbers and booleans', () => {
    const { hours, all } = listing({ hours: '-24', all: 'true' }).request
    assert.deepEqual([hours, all], [-24, true])
    for (const [name, text] of [
      ['hours', '1.5'],
      ['hours', '1e3'],
      ['hours', ''],
      ['hours', '0x1'],
      ['all', '1'],
    ] as const)
      assert.throws(() => listing({ [name]: text }), { code: 'request.invalid_field', path: name })
  })

  for (const text of ['0', '-1', 'x', '', 'NaN', '-Infinity', ['1', '2']]) {
    it(`takes ${JSON.stringify(text)} for no page and no limit`, () => {
      assert.deepEqual(listing({ $page: text, $limit: text }).request, { list: { page: 1, limit: 10 } })
    })
  }

  it('caps the limit and says so', () => {
    assert.deepEqual(listing({ $limit: '5000' }), {
      request: { list: { page: 1, limit: 1000 } },
      headers: { 'X-Limit-Clamped': '1000' },
    })
  })

  const cases: [what: string, query: Record<string, unknown>, message: string][] = [
    ['a parameter without its $', { limit: '5' }, 'extra field -> limit'],
    ['a repeated filter', { filter: ['{}', '{}'] }, 'invalid field -> filter: given more than once'],
    [
      'a pagination that is neither true nor false',
      { pagination: 'no' },
      'invalid field -> pagination: must be true or false',
    ],
    ['a value that is not allowed', { kind: 'both' }, 'invalid field -> kind: must be one of api, user'],
    ['a repeated parameter', { kind: ['api', 'user'] }, 'invalid field -> kind: must be a string'],
  ]
  for (const [what, query, message] of cases)
    it(`names ${what}`, () =>
      assert.equal(
        refusal(() => listing(query)),
        message,
      ))
})
